import { execFileSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { toSpread } from '../harness/rounds.ts'
import { NO_OP, noOpRuns } from '../harness/runs.ts'
import { publish, startService } from '../harness/service.ts'
import { formatNumber, type PartContext, type PartResult } from '../report.ts'

const FULL = { starts: 7, storedRuns: 2_000 }
const QUICK = { starts: 3, storedRuns: 300 }
/** Until garbage has been collected after the start. */
const IDLE_MS = 3_000

/** How soon `npm start` is ready on a store that has been used, and the memory of all its processes, npm included. */
export async function footprint({ workspace, quick, log }: PartContext): Promise<PartResult> {
  const { starts, storedRuns } = quick ? QUICK : FULL
  const folder = await workspace.createFolder()
  log(`storing ${storedRuns} runs`)
  const service = await startService(workspace, { folder })
  await publish(workspace, service.table, NO_OP)
  const { sync } = noOpRuns(service)
  for (let i = 0; i < storedRuns; i++) await sync()
  await service.stop()

  const readySeconds: number[] = []
  const idleMiB: number[] = []
  let processes: Process[] = []
  for (let start = 1; start <= starts; start++) {
    log(`start ${start} of ${starts}`)
    const { pid, readyMs, stop } = await startService(workspace, { folder, npm: true })
    readySeconds.push(readyMs / 1000)
    await sleep(IDLE_MS)
    processes = processTree(pid)
    idleMiB.push(processes.reduce((sum, { residentMiB }) => sum + residentMiB, 0))
    await stop()
  }
  return {
    figures: { readySeconds: toSpread(readySeconds), idleMemory: toSpread(idleMiB) },
    details: {
      title: `Idle processes of \`npm start\` on a store with ${storedRuns} runs, last start`,
      rows: processes.map(({ command, residentMiB }) => ({
        process: command,
        'RSS MiB': formatNumber(residentMiB),
      })),
    },
  }
}

type Process = { pid: number; parent: number; residentMiB: number; command: string }

/** A process and all its descendants. */
function processTree(root: number): Process[] {
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
