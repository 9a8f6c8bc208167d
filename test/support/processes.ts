import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Process ids of the children of a process whose command line holds `text`. */
export async function childrenOf(pid: number, text: string): Promise<number[]> {
  const { stdout } = await run('ps', ['-eo', 'pid=,ppid=,args='])
  return stdout
    .split('\n')
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .filter((match) => match?.[2] === String(pid) && match[3]?.includes(text))
    .map((match) => Number(match?.[1]))
}
