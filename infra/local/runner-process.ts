import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const RUNNER = fileURLToPath(new URL('./runner.ts', import.meta.url))
const RESTART_MS = 500

/** How long the runner may take to finish what it has in work before it is killed; its leases then run out. */
const STOP_MS = 5_000

type Options = {
  /** The address of the dead-letter queue. */
  deadLetters: string
  onDeath: (message: string) => void
  /** Called when it has done with an execution, for this time at least. */
  onWorked: (executionId: string) => void
}

/** Keeps one runner process alive: one that dies is started again. */
export async function startRunner({ deadLetters, onDeath, onWorked }: Options) {
  let isStopping = false
  let child = spawnRunner(deadLetters)
  let restart: NodeJS.Timeout | undefined
  await new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve())
    child.once('exit', (code) => reject(new Error(`The runner ended with code ${code} while it started.`)))
  })

  function watch(process: ChildProcess) {
    process.on('message', (message: 'ready' | { worked: string }) => {
      if (message !== 'ready') onWorked(message.worked)
    })
    process.once('exit', (code, signal) => {
      if (isStopping) return
      onDeath(`The runner died (${signal ?? `code ${code}`}); a new one takes its executions up.`)
      restart = setTimeout(() => {
        child = spawnRunner(deadLetters)
        watch(child)
      }, RESTART_MS)
    })
  }
  watch(child)

  return {
    async stop(): Promise<void> {
      isStopping = true
      clearTimeout(restart)
      if (child.exitCode !== null || child.signalCode !== null) return
      const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
      child.kill('SIGTERM')
      const killer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
      await gone
      clearTimeout(killer)
    },
  }
}

function spawnRunner(deadLetters: string): ChildProcess {
  return fork(RUNNER, [deadLetters], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
}
