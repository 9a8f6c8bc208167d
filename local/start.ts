import { collectGarbage } from './collect-garbage.ts'
import { runService } from './service.ts'

// Code agents run in this process when they are called synchronously: one that throws outside of its own promises, which
// on Lambda ends one invocation, must not end the service.
process.on('uncaughtException', (error) => console.error('Uncaught, maybe thrown by a code agent:', error))

try {
  const service = await runService(process.env, (line) => console.log(line))
  collectGarbage()
  const stop = async () => {
    await service.stop()
    process.exit(0)
  }
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
  if (process.env.npm_lifecycle_event) onOrphaned(stop)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}

/**
 * npm passes a signal on to the shell that it runs scripts in, and the shell dies without a word to its child: with it
 * goes our parent.
 */
function onOrphaned(stop: () => Promise<void>): void {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    void stop()
  }, 100)
}
