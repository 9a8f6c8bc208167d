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

/** A runner process that starts when it is first needed and is then kept alive: one that dies is started again. */
export function runnerOnDemand({ deadLetters, onDeath, onWorked }: Options) {
  let isStopping = false
  let child: ChildProcess | undefined
  let restart: NodeJS.Timeout | undefined

  function start() {
    child = spawnRunner(deadLetters)
    child.on('message', ({ worked }: { worked: string }) => onWorked(worked))
    child.once('exit', (code, signal) => {
      if (isStopping) return
      onDeath(`The runner died (${signal ?? `code ${code}`}); a new one takes its executions up.`)
      restart = setTimeout(start, RESTART_MS)
    })
  }

  return {
    /** Starts it, unless that was done before. */
    need(): void {
      if (!child && !isStopping) start()
    },

    async stop(): Promise<void> {
      isStopping = true
      clearTimeout(restart)
      const running = child
      if (!running || running.exitCode !== null || running.signalCode !== null) return
      const gone = new Promise<void>((resolve) => running.once('exit', () => resolve()))
      running.kill('SIGTERM')
      const killer = setTimeout(() => running.kill('SIGKILL'), STOP_MS)
      await gone
      clearTimeout(killer)
    },
  }
}

function spawnRunner(deadLetters: string): ChildProcess {
  return fork(RUNNER, [deadLetters], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
}
