import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const RUNNER = fileURLToPath(new URL('../../local/runner.ts', import.meta.url))
const RESTART_MS = 500

type Options = { environment: Record<string, string>; deadLetters: string }

/** A runner beside those of the services, started again whenever it dies: more of them, as on AWS. */
export function keepRunner({ environment, deadLetters }: Options) {
  const counts = { kills: 0 }
  let isStopping = false
  let restart: NodeJS.Timeout | undefined
  let child = start()

  function start(): ChildProcess {
    const started = fork(RUNNER, [deadLetters], {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    started.once('exit', () => {
      if (isStopping) return
      restart = setTimeout(() => {
        child = start()
      }, RESTART_MS)
    })
    return started
  }

  const isUp = () => child.exitCode === null && child.signalCode === null

  return {
    counts,
    /** SIGKILL. False when it is down at the moment. */
    async kill(): Promise<boolean> {
      if (!isUp()) return false
      counts.kills++
      return child.kill('SIGKILL')
    },
    async stop(): Promise<void> {
      isStopping = true
      clearTimeout(restart)
      if (!isUp()) return
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
    },
  }
}

export type KeptRunner = ReturnType<typeof keepRunner>
