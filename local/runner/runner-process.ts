import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

const RUNNER = fileURLToPath(new URL(`./runner${extname(import.meta.url)}`, import.meta.url))
/** The flag of `npm start` (`start.mjs`), which `agent-execution start` does not pass. */
const FLAG = '--max-semi-space-size=16'
const RESTART_DELAY_MS = 500

/** How long the runner may take to release its runs before it is killed. Their leases expire then. */
const MAX_STOP_MS = 5_000

type Options = {
  /** URL of the dead-letter queue. */
  deadLetters: string
  onExit: (message: string) => void
  /** Called when the runner has processed a message of this execution. */
  onProcessed: (executionId: string) => void
}

/** A runner process. It is restarted if it exits. */
export function createRunner({ deadLetters, onExit, onProcessed }: Options) {
  let isStopping = false
  let child: ChildProcess | undefined
  let restart: NodeJS.Timeout | undefined
  let delivers = false

  function spawnRunner() {
    child = fork(RUNNER, [deadLetters, ...(delivers ? ['deliver'] : [])], {
      execArgv: [...new Set([...process.execArgv, FLAG])],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    child.on('message', (message: { processed: string } | 'delivers') => {
      if (message === 'delivers') delivers = true
      else onProcessed(message.processed)
    })
    child.once('exit', (code, signal) => {
      if (isStopping) return
      onExit(`The runner exited (${signal ?? `code ${code}`}). A new one resumes its executions.`)
      restart = setTimeout(spawnRunner, RESTART_DELAY_MS)
    })
  }

  return {
    /** Starts the runner, unless deliveries have started it. */
    start(): void {
      if (!child && !isStopping) spawnRunner()
    },

    /** Starts to deliver events, in this runner and in those that replace it. */
    startDeliveries(): void {
      if (isStopping || delivers) return
      delivers = true
      if (child?.connected) child.send('deliver')
      else if (!child) spawnRunner()
    },

    async stop(): Promise<void> {
      isStopping = true
      clearTimeout(restart)
      const running = child
      if (!running || running.exitCode !== null || running.signalCode !== null) return
      const exited = once(running, 'exit')
      running.kill('SIGTERM')
      const killer = setTimeout(() => running.kill('SIGKILL'), MAX_STOP_MS)
      await exited
      clearTimeout(killer)
    },
  }
}
