import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SupervisedService } from './supervised-service.ts'

/** Of its processor time, so that a busy machine makes no difference. It needs a fraction of that to start. */
const MAX_SILENT_SECONDS = 10
const INTERVAL_MS = 500
const TIMEOUT_MS = 2_000

/**
 * Reports gateways that exit although they were not killed, and those that compute without responding. The latter needs
 * Linux.
 */
export function watchGateways(services: SupervisedService[]) {
  const problems: string[] = []
  /** The processor time of each gateway at its last response. */
  const respondedAt = new Map<number, number>()

  async function check(service: SupervisedService): Promise<void> {
    service.checkGateway()
    const pid = service.pid()
    const seconds = pid && processorSeconds(pid)
    if (!pid || !seconds) return
    // No route: the response needs no database.
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const isSilent = await fetch(service.url, { signal, headers: { connection: 'close' } }).then(
      () => false,
      (error: Error) => error.name === 'TimeoutError',
    )
    if (!isSilent || !respondedAt.has(pid)) respondedAt.set(pid, seconds)
    const silent = seconds - (respondedAt.get(pid) ?? 0)
    if (silent < MAX_SILENT_SECONDS) return
    problems.push(`The gateway at ${service.url} computed for ${silent.toFixed(0)} s without responding.`)
    // Otherwise all that follows would wait for it.
    await service.kill('gateway')
  }

  const stopping = new AbortController()
  const checking = (async () => {
    while (!stopping.signal.aborted) {
      await Promise.all(services.map(check))
      await sleep(INTERVAL_MS, undefined, { signal: stopping.signal }).catch(() => {})
    }
  })()
  return {
    problems,
    async stop(): Promise<void> {
      stopping.abort()
      await checking
    },
  }
}

/** In the kernel and outside; https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html. Null after the exit. */
function processorSeconds(pid: number): number | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
  } catch {
    return null
  }
}

const TICKS_PER_SECOND = 100
