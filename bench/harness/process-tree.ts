import { execFileSync } from 'node:child_process'

export type Process = { pid: number; parent: number; residentMiB: number; command: string }

/** A process and all its descendants. */
export function processTree(root: number): Process[] {
  const all = execFileSync('ps', ['-axo', 'pid=,ppid=,rss=,args='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line): Process => {
      const [pid, parent, rssKiB, ...command] = line.trim().split(/\s+/)
      return {
        pid: Number(pid),
        parent: Number(parent),
        residentMiB: Number(rssKiB) / 1024,
        command: withoutFolders(command),
      }
    })
  const isDescendant = (id: number): boolean =>
    id === root || all.some(({ pid, parent }) => pid === id && parent !== id && isDescendant(parent))
  return all.filter(({ pid }) => isDescendant(pid))
}

const withoutFolders = (command: string[]) =>
  command
    .slice(0, 3)
    .map((word) => word.split('/').at(-1))
    .join(' ')
