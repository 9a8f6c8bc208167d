import { readdirSync, readFileSync } from 'node:fs'

const MIB_KB = 1024

/** One process of a tree. Resident memory counts pages that several share in each of them, proportional memory in parts. */
export type Process = { pid: number; command: string; residentMiB: number; proportionalMiB: number }

/** A process with all that it has started, by Linux' /proc; those that end while they are looked at are left out. */
export function processTree(root: number): Process[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readProcess(Number(name)))
  const isInside = new Set([root])
  // A child may stand before its parent: look until nothing is found any more.
  for (let size = 0; size < isInside.size; ) {
    size = isInside.size
    for (const { pid, parent } of all) if (isInside.has(parent)) isInside.add(pid)
  }
  return all.filter(({ pid }) => isInside.has(pid)).map(({ parent: _, ...process }) => process)
}

/** The whole tree's resident memory. */
export const residentMiB = (root: number): number =>
  processTree(root).reduce((sum, process) => sum + process.residentMiB, 0)

function readProcess(pid: number): (Process & { parent: number })[] {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
    return [
      {
        pid,
        command,
        parent: numberIn(status, 'PPid'),
        residentMiB: numberIn(status, 'VmRSS') / MIB_KB,
        proportionalMiB: numberIn(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'), 'Pss') / MIB_KB,
      },
    ]
  } catch {
    return []
  }
}

const numberIn = (text: string, field: string) =>
  Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0)
