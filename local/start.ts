import { afterStart } from './after-start.ts'
import { onParentExit } from './parent-exit.ts'
import { runService } from './service.ts'
import { removeStaleFolders } from './temporary-folders.ts'

// Read before the start, during which the parent may exit.
const parent = process.ppid

/** Longer than requests in flight, the runner and the emulators may take. Then the process exits anyway. */
const MAX_STOP_MS = 13_000

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 }

/** npm forwards the signal of Ctrl-C, which the terminal has sent to this process, too. */
const FORWARDED_MS = 300

try {
  const service = await runService(process.env, (line) => console.log(line))
  afterStart()
  removeStaleFolders().catch(() => undefined)
  let stoppedAt: number | undefined
  const stop = async () => {
    if (stoppedAt !== undefined) return
    stoppedAt = performance.now()
    setTimeout(() => process.exit(1), MAX_STOP_MS).unref()
    try {
      await service.stop()
      process.exit(0)
    } catch (error) {
      console.error(`Could not stop cleanly: ${error instanceof Error ? error.message : error}`)
      process.exit(1)
    }
  }
  const onSignal = (signal: keyof typeof EXIT_CODES) => {
    if (stoppedAt === undefined) return void stop()
    if (performance.now() - stoppedAt < FORWARDED_MS) return
    console.log('Stopped at once. Runs in progress continue at the next start.')
    process.exit(EXIT_CODES[signal])
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  onParentExit(parent, stop)
  // A defect that one request meets must not end the others. What they have written is in the table.
  process.on('uncaughtException', (error) => console.error('Unexpected error:', error))
  // Last: a process that waits for this line may send a signal at once.
  console.log(`ready ${service.url}`)
  // A run that a decision resumes would wait for its start, which takes longer than most runs.
  service.startRunner()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}
