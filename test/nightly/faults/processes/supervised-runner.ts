import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { BatchReport } from './queue-settings.ts'

const RUNNER = fileURLToPath(new URL('./batch-runner.ts', import.meta.url))
const RESTART_MS = 500

type Options = { environment: Record<string, string> }

/** An additional runner that receives batches, restarted when it dies: on AWS, several runners share one queue. */
export function superviseRunner({ environment }: Options) {
  const counts = { kills: 0 }
  const batches: BatchReport[] = []
  let isStopping = false
  let restart: NodeJS.Timeout | undefined
  let child = start()

  function start(): ChildProcess {
    const started = fork(RUNNER, [], {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    started.on('message', (report: BatchReport) => batches.push(report))
    started.once('exit', () => {
      if (isStopping) return
      restart = setTimeout(() => {
        child = start()
      }, RESTART_MS)
    })
    return started
  }

  const isRunning = () => child.exitCode === null && child.signalCode === null

  return {
    counts,
    batches,
    /** Sends SIGKILL. False when the runner is down. */
    async kill(): Promise<boolean> {
      if (!isRunning()) return false
      counts.kills++
      return child.kill('SIGKILL')
    },
    async stop(): Promise<void> {
      isStopping = true
      clearTimeout(restart)
      if (!isRunning()) return
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
    },
  }
}

export type SupervisedRunner = ReturnType<typeof superviseRunner>
