import { setTimeout as sleep } from 'node:timers/promises'
import { processTree } from '../harness/process-tree.ts'
import { toSpread } from '../harness/rounds.ts'
import { startService } from '../harness/service.ts'
import { type SuiteContext, type SuiteResult, spreadRows } from '../report.ts'

const STARTS = { full: 5, quick: 2 }
/** Until garbage has been collected after the start. */
const IDLE_MS = 3_000

/** How soon `npm start` is ready in an empty folder, and again, and the memory of its idle processes, npm included. */
export async function start({ workspace, quick, log }: SuiteContext): Promise<SuiteResult> {
  const starts = STARTS[quick ? 'quick' : 'full']
  const empty: number[] = []
  const again: number[] = []
  const idleMiB: number[] = []
  for (let start = 1; start <= starts; start++) {
    log(`start ${start} of ${starts}`)
    const folder = await workspace.createFolder()
    for (const seconds of [empty, again]) {
      const { pid, readyMs, stop } = await startService(workspace, { folder, npm: true })
      seconds.push(readyMs / 1000)
      await sleep(IDLE_MS)
      if (seconds === again)
        idleMiB.push(processTree(pid).reduce((sum, { residentMiB }) => sum + residentMiB, 0))
      await stop()
    }
  }
  return {
    figures: {
      startSeconds: toSpread(empty),
      restartSeconds: toSpread(again),
      idleMemory: toSpread(idleMiB),
    },
    details: {
      title: '`npm start`, all processes',
      rows: spreadRows({
        'ready in an empty folder, s': empty,
        'ready again, s': again,
        'idle, MiB': idleMiB,
      }),
    },
  }
}
