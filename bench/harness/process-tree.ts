import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

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

const MS_PER_TICK = 10

/** Processor time of a process and all its descendants, in the ticks of proc(5). NaN where there is none. */
export function processorMs(root: number): number {
  if (process.platform !== 'linux') return Number.NaN
  return processTree(root).reduce((sum, { pid }) => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return sum + (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK
  }, 0)
}
