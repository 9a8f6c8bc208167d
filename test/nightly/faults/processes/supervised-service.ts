import { childrenOf, isAlive, sendSignal, waitUntil } from '../../../support/processes/processes.ts'
import { type Service, startService } from '../../../support/service/start-service.ts'

/** The two processes of a service. */
export type Role = 'gateway' | 'runner'

const MAX_STARTS = 20
const RESTART_MS = 200
const STOP_MS = 15_000

type Options = { dataDir: string; environment: Record<string, string> }

/** A service that is restarted whenever its gateway is killed. The gateway itself restarts its runner. */
export function superviseService({ dataDir, environment }: Options) {
  const counts = { starts: 0, failedStarts: 0, gatewayKills: 0, runnerKills: 0, pauses: 0 }
  const problems: string[] = []
  let running: Service | null = null
  const all: Service[] = []
  const paused = new Map<number, NodeJS.Timeout>()
  let isStopping = false
  let starting = start()

  const resume = (pid: number) => {
    clearTimeout(paused.get(pid))
    paused.delete(pid)
    sendSignal(pid, 'SIGCONT')
  }

  async function start(): Promise<void> {
    let lastError: unknown
    // A fault or a kill can break a start. The limit detects a service that cannot start at all.
    for (let tries = 0; tries < MAX_STARTS && !isStopping; tries++) {
      try {
        counts.starts++
        running = await startService({ dataDir, environment })
        all.push(running)
        return
      } catch (error) {
        counts.failedStarts++
        lastError = error
        await new Promise((resolve) => setTimeout(resolve, RESTART_MS))
      }
    }
    if (!isStopping) problems.push(`A service failed to start ${MAX_STARTS} times: ${lastError}`)
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
    /** Everything that its processes have printed. */
    output: () => all.map((service) => service.output()).join('\n'),
    /** Reports and restarts a gateway that exited although it was not killed. */
    checkGateway(): void {
      if (!running || isAlive(running.pid)) return
      const lastLines = running.output().split('\n').slice(-20).join('\n')
      problems.push(`A gateway exited although it was not killed:\n${lastLines}`)
      restart(Promise.resolve())
    },
    /** Sends SIGKILL. False when the process is down. */
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
      if (!sendSignal(runner, 'SIGKILL')) return false
      counts.runnerKills++
      return true
    },
    /** Suspends the runner so that it resumes after its leases have expired. False when it is down. */
    async pause(ms: number): Promise<boolean> {
      const [runner] = running ? await runnersOf(running.pid) : []
      if (!runner || paused.has(runner)) return false
      if (!sendSignal(runner, 'SIGSTOP')) return false
      counts.pauses++
      paused.set(
        runner,
        setTimeout(() => resume(runner), ms),
      )
      return true
    },
    /** Stops both processes and waits until they have exited. */
    async stop(): Promise<void> {
      isStopping = true
      const runners = [...paused.keys()]
      for (const pid of runners) resume(pid)
      await starting
      if (running) {
        runners.push(...(await runnersOf(running.pid)))
        const killer = setTimeout(() => running?.kill(), STOP_MS)
        await running.stop()
        clearTimeout(killer)
      }
      await waitUntil(() => !runners.some(isAlive), { what: 'the runners to exit', limitMs: STOP_MS })
    },
  }
}

export type SupervisedService = ReturnType<typeof superviseService>

const runnersOf = (pid: number) => childrenOf(pid, 'runner.ts')
