import { until } from '../../local/until.ts'
import { childrenOf } from '../support/processes.ts'
import { type Service, startService } from '../support/service.ts'

/** The two processes of a service. */
export type Role = 'gateway' | 'runner'

const MAX_STARTS = 20
const PAUSE_BETWEEN_STARTS_MS = 200
const STOP_MS = 15_000

type Options = { dataDir: string; environment: Record<string, string> }

/** A service that is started again whenever its gateway has been killed. Its runner is the gateway's own to restart. */
export function keepService({ dataDir, environment }: Options) {
  const counts = { starts: 0, failedStarts: 0, gatewayKills: 0, runnerKills: 0, pauses: 0 }
  const problems: string[] = []
  let running: Service | null = null
  const paused = new Map<number, NodeJS.Timeout>()
  let isStopping = false
  let starting = start()

  const goOn = (pid: number) => {
    clearTimeout(paused.get(pid))
    paused.delete(pid)
    signalled(pid, 'SIGCONT')
  }

  async function start(): Promise<void> {
    let last: unknown
    // A fault or a kill can hit a start; the limit tells that from a service that cannot start.
    for (let tries = 0; tries < MAX_STARTS && !isStopping; tries++) {
      try {
        counts.starts++
        running = await startService({ dataDir, environment })
        return
      } catch (error) {
        counts.failedStarts++
        last = error
        await new Promise((resolve) => setTimeout(resolve, PAUSE_BETWEEN_STARTS_MS))
      }
    }
    if (!isStopping) problems.push(`A service did not start in ${MAX_STARTS} tries: ${last}`)
  }

  function restart(after: Promise<void>): Promise<void> {
    running = null
    starting = after.then(start)
    return after
  }

  return {
    counts,
    problems,
    url: `http://127.0.0.1:${environment.PORT}`,
    ready: () => starting,
    /** Starts again a gateway that nobody killed and that is gone all the same, and reports it. */
    look(): void {
      if (!running || isAlive(running.pid)) return
      problems.push(`A gateway died by itself:\n${running.output().split('\n').slice(-20).join('\n')}`)
      restart(Promise.resolve())
    },
    /** SIGKILL. False when there is no such process at the moment. */
    async kill(role: Role): Promise<boolean> {
      const service = running
      if (!service) return false
      if (role === 'gateway') {
        counts.gatewayKills++
        await restart(service.kill())
        return true
      }
      const [runner] = await runnersOf(service.pid)
      if (!runner || paused.has(runner)) return false
      if (!signalled(runner, 'SIGKILL')) return false
      counts.runnerKills++
      return true
    },
    /** Stops the runner for a while, so that its leases run out: it comes back as one that does not know that. False as above. */
    async pause(ms: number): Promise<boolean> {
      const [runner] = running ? await runnersOf(running.pid) : []
      if (!runner || paused.has(runner)) return false
      if (!signalled(runner, 'SIGSTOP')) return false
      counts.pauses++
      paused.set(
        runner,
        setTimeout(() => goOn(runner), ms),
      )
      return true
    },
    /** Ends both processes, also while they start, and waits until they are gone. */
    async stop(): Promise<void> {
      isStopping = true
      const runners = [...paused.keys()]
      for (const pid of runners) goOn(pid)
      await starting
      if (running) {
        runners.push(...(await runnersOf(running.pid)))
        const killer = setTimeout(() => running?.kill(), STOP_MS)
        await running.stop()
        clearTimeout(killer)
      }
      await until(() => !runners.some(isAlive), { what: 'the runners to end', limitMs: STOP_MS })
    },
  }
}

export type KeptService = ReturnType<typeof keepService>

const runnersOf = (pid: number) => childrenOf(pid, 'runner.ts')

const isAlive = (pid: number) => signalled(pid, 0)

/** False when there is no such process any more: another kill may have met it. */
function signalled(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}
