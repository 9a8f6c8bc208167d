import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Process ids of a process's children whose command line contains `text`. */
export async function childrenOf(pid: number, text: string): Promise<number[]> {
  const { stdout } = await run('ps', ['-eo', 'pid=,ppid=,args='])
  return stdout
    .split('\n')
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .filter((match) => match?.[2] === String(pid) && match[3]?.includes(text))
    .map((match) => Number(match?.[1]))
}

/** False when the process does not exist. */
export function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

export const isAlive = (pid: number) => sendSignal(pid, 0)
