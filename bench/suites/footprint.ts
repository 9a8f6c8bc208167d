import { setTimeout as sleep } from 'node:timers/promises'
import { type Process, processTree } from '../harness/process-tree.ts'
import { toSpread } from '../harness/rounds.ts'
import { NO_OP, noOpRuns } from '../harness/runs.ts'
import { publish, startService } from '../harness/service.ts'
import { formatNumber, type SuiteContext, type SuiteResult } from '../report.ts'

const FULL = { starts: 7, storedRuns: 2_000 }
const QUICK = { starts: 3, storedRuns: 300 }
/** Until garbage has been collected after the start. */
const IDLE_MS = 3_000

/** How soon `npm start` is ready on a store that has been used, and the memory of all its processes, npm included. */
export async function footprint({ workspace, quick, log }: SuiteContext): Promise<SuiteResult> {
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
      title: `Idle processes of \`npm start\` on a store with ${storedRuns} runs, last start: RSS, MiB`,
      rows: processes.map(({ command, residentMiB }) => ({ command, RSS: formatNumber(residentMiB) })),
    },
  }
}
