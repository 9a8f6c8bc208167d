import { divideConcurrency } from '../../infra/functions/concurrency.ts'
import { TooManyOpenRequests } from '../../lib/core/limit-errors.ts'
import {
  EVENT_STREAM_MS,
  OPEN_RETRY_AFTER_SECONDS,
  ORGANIZATION_SHARE,
  SMALL_QUOTA,
} from '../../lib/core/limits.ts'
import type { OpenRequests, RateStore } from '../../lib/core/ports/access.ts'
import { SHARED_CONCURRENCY } from '../../lib/environment.ts'
import { occupiedProcesses } from '../../lib/limits/occupied-processes.ts'
import { type QUEUE_SHARES, shareOfQueue } from '../../lib/limits/queue-share.ts'
import { PARTITION } from './hot-keys.ts'
import { createRandom } from './random.ts'
import { createClock } from './virtual-clock.ts'

export const QUOTAS = [10, 100, 1_000, 10_000]
const DEFAULT_QUOTA = 1_000
const CALLERS_PER_PROCESS = 5
/** How long a queued run takes, and a delivery whose receiver does not answer. There are always more. */
const QUEUED_MS = 20_000
/** Messages of each queue per unit of a small quota. */
const BACKLOG = 20
const SECONDS = 90
/** Of a request to the table, and of a request that does not wait; in milliseconds. */
const MS = { table: 5, short: 20 } as const

type FunctionName = 'run-agent' | 'serve-mcp' | 'get-execution' | 'stream-events'

/** A call that stays open for this long, unless it has to end. */
type Call = { name: string; functionName: FunctionName; ms: number }

const SYNC = { name: 'synchronous runs of 270 s', functionName: 'run-agent', ms: 270_000 } as const
const WAIT = { name: 'Prefer: wait=25', functionName: 'get-execution', ms: 25_000 } as const
const MCP = { name: 'MCP calls of 45 s', functionName: 'serve-mcp', ms: 45_000 } as const
const STREAM = { name: 'event streams of 840 s', functionName: 'stream-events', ms: 840_000 } as const

const SHORT_WAIT = {
  name: 'Prefer: wait=1, again and again',
  functionName: 'get-execution',
  ms: 1_000,
} as const
const SHORT_SYNC = { name: 'synchronous runs of 2 s', functionName: 'run-agent', ms: 2_000 } as const

export type WaitingScenario = { name: string; calls: Call[] }

export const ALL_CALLS: WaitingScenario = { name: 'all of these', calls: [SYNC, WAIT, MCP, STREAM] }

/** What the callers of organization A repeat. */
export const WAITING_SCENARIOS: WaitingScenario[] = [
  ...[SYNC, WAIT, MCP, STREAM, SHORT_WAIT, SHORT_SYNC].map((call) => ({ name: call.name, calls: [call] })),
  ALL_CALLS,
]

/** What organization B sends per second, and in proportion to the quota, in an account of 1,000. */
const OTHERS: (Call & { perSecond: number })[] = [
  { name: 'reads', functionName: 'get-execution', ms: MS.short, perSecond: 20 },
  { name: 'short synchronous runs', functionName: 'run-agent', ms: 200, perSecond: 5 },
  { name: 'long synchronous runs', functionName: 'run-agent', ms: 20_000, perSecond: 0.5 },
  { name: 'waits', functionName: 'get-execution', ms: 10_000, perSecond: 1 },
  { name: 'MCP calls', functionName: 'serve-mcp', ms: 5_000, perSecond: 1 },
  { name: 'event streams', functionName: 'stream-events', ms: 30_000, perSecond: 0.2 },
]

/** Shares of the calls of organization B that were refused, or ended early. */
export type WaitingResult = {
  refused: number
  /** From the second on by which every process has met organization A. */
  refusedLater: number
  /** Of the concurrency of the account, that organization A had on average. */
  occupied: number
}

const LATER_MS = 10_000

/** `refused`: by its process, at once or after a while; `throttled`: by Lambda. */
type Outcome = 'completed' | 'refused' | 'throttled'

/** Until a caller calls again; up to half as much longer. */
const BACKOFF_MS = { completed: 0, refused: OPEN_RETRY_AFTER_SECONDS * 1_000, throttled: 1_000 } as const

/**
 * By what organizations are limited: nothing, the reservations and limits of `accountConcurrency`, or the quota that
 * the sweeper has read.
 */
export type LimitedBy = 'nothing' | 'setting' | 'sweeper'

export async function simulateWaiting(
  { calls }: WaitingScenario,
  limitedBy: LimitedBy,
  quota = DEFAULT_QUOTA,
  seed = 1,
): Promise<WaitingResult> {
  const clock = createClock()
  const random = createRandom(seed)
  const accountConcurrency = limitedBy === 'setting' ? quota : null
  const divided = divideConcurrency({ accountConcurrency, runnerConcurrency: null })
  const { reserved, ofOrganization, mappings, runners } = divided
  const isRead = limitedBy === 'sweeper' && quota < SMALL_QUOTA
  const isShared = divided.isShared || isRead
  const writes = new Map<string, number>()
  const table = {
    async countProcess({ organizationId, name, window }: Parameters<RateStore['countProcess']>[0]) {
      await clock.sleep(MS.table)
      const key = `${organizationId} ${name} ${window}`
      const second = `${key} ${Math.floor(clock.now() / 1000)}`
      const inSecond = count(writes, second)
      if (inSecond > PARTITION.writes) throw new Error('The partition is throttled.')
      return count(counters, key)
    },
    getQuota: async () => quota,
  }
  const counters = new Map<string, number>()
  const newProcess = (functionName: FunctionName): OpenRequests => {
    const max = isRead ? Math.floor(quota * ORGANIZATION_SHARE) : ofOrganization[functionName]
    if (max === undefined)
      return { hold: async () => ({ full: new AbortController().signal, release: () => {} }) }
    const counted = isShared ? 'all' : functionName
    return occupiedProcesses({ rates: table, functionName: counted, max, clock: { ...clock, random } })
  }
  const idle = new Map<FunctionName, OpenRequests[]>()
  const busy = new Map<FunctionName | 'unreserved', number>([['unreserved', 0]])
  let occupiedMs = 0

  /** One invocation of the function, by any process that is free. */
  async function invoke(organizationId: string, { functionName, ms }: Call): Promise<Outcome> {
    const pool = reserved[functionName] === undefined ? 'unreserved' : functionName
    const max = reserved[functionName] ?? quota
    const inUse = busy.get(pool) ?? 0
    if (inUse >= max) return 'throttled'
    busy.set(pool, inUse + 1)
    const free = idle.get(functionName) ?? []
    idle.set(functionName, free)
    const [process = newProcess(functionName)] = free.splice(Math.floor(random() * free.length), 1)
    // What is still open at the end counts, too.
    if (organizationId === 'A') occupiedMs += SECONDS * 1_000 - clock.now()
    const maxMs = isShared && functionName === 'stream-events' ? EVENT_STREAM_MS.shared : ms
    const outcome = await handle(process, organizationId, Math.min(ms, maxMs))
    if (organizationId === 'A') occupiedMs -= SECONDS * 1_000 - clock.now()
    free.push(process)
    busy.set(pool, (busy.get(pool) ?? 0) - 1)
    return outcome
  }

  async function handle(process: OpenRequests, organizationId: string, ms: number): Promise<Outcome> {
    await clock.sleep(MS.short)
    if (ms === MS.short) return 'completed'
    try {
      const { full, release } = await process.hold('wait', { organizationId, tokenId: organizationId })
      const { promise, resolve } = Promise.withResolvers<void>()
      full.addEventListener('abort', () => resolve())
      const cancel = clock.after(ms, resolve)
      await promise
      cancel()
      release()
      return full.aborted ? 'refused' : 'completed'
    } catch (error) {
      if (!(error instanceof TooManyOpenRequests)) throw error
      return 'refused'
    }
  }

  /** The pollers of event source mappings, which are as many as they may be at the same time. */
  function startQueue(name: keyof typeof QUEUE_SHARES, pollers: number): void {
    const environment = isRead ? { [SHARED_CONCURRENCY]: 'unknown' } : {}
    const newShare = () => shareOfQueue({ rates: table, name, environment, clock: { ...clock, random } })
    const free: ReturnType<typeof newShare>[] = []
    let messages = isRead ? BACKLOG * quota : Number.POSITIVE_INFINITY
    const poll = async () => {
      await clock.sleep(random() * 1_000)
      for (;;) {
        const inUse = busy.get('unreserved') ?? 0
        if (messages === 0 || inUse >= quota) {
          await clock.sleep(BACKOFF_MS.throttled * (1 + random() / 2))
          continue
        }
        messages--
        busy.set('unreserved', inUse + 1)
        const inShare = free.pop() ?? newShare()
        await clock.sleep(MS.short)
        const delayMs = await inShare(
          () => clock.sleep(QUEUED_MS).then(() => 0),
          async (delayMs) => delayMs,
        )
        clock.after(delayMs, () => messages++)
        free.push(inShare)
        busy.set('unreserved', (busy.get('unreserved') ?? 0) - 1)
      }
    }
    for (let poller = 0; poller < pollers; poller++) void poll()
  }

  async function repeat(call: Call): Promise<void> {
    // Callers do not begin in the same millisecond.
    await clock.sleep(random() * 1_000)
    for (;;) {
      const outcome = await invoke('A', call)
      const backoffMs = BACKOFF_MS[outcome]
      if (backoffMs > 0) await clock.sleep(backoffMs * (1 + random() / 2))
    }
  }

  const results = { sent: 0, refused: 0, sentLater: 0, refusedLater: 0 }
  async function sendOther(call: Call): Promise<void> {
    const isLater = clock.now() >= LATER_MS
    const isRefused = (await invoke('B', call)) !== 'completed'
    results.sent++
    if (isRefused) results.refused++
    if (isLater) results.sentLater++
    if (isLater && isRefused) results.refusedLater++
  }
  startQueue('runners', 2 * runners)
  startQueue('deliveries', mappings.deliveries)

  for (let caller = 0; caller < quota * CALLERS_PER_PROCESS; caller++)
    void repeat(calls[caller % calls.length] as Call)
  for (const { perSecond, ...call } of OTHERS)
    for (let at = 0; at < SECONDS * 1_000 - call.ms; at += 1_000_000 / perSecond / quota)
      clock.after(at, () => void sendOther(call))
  await clock.run(SECONDS * 1_000)
  return {
    refused: results.refused / results.sent,
    refusedLater: results.refusedLater / results.sentLater,
    occupied: occupiedMs / (SECONDS * 1_000) / quota,
  }
}

function count(counts: Map<string, number>, key: string): number {
  const next = (counts.get(key) ?? 0) + 1
  counts.set(key, next)
  return next
}
