import type { Execution, Progress } from '../../lib/core/execution.ts'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { LEASE_MS } from '../../lib/core/lease-times.ts'
import { DEADLINE_MS, IDEMPOTENCY_MS } from '../../lib/core/limits.ts'
import { NO_USAGE } from '../../lib/core/model-usage.ts'
import { cachedExecution, newExecution } from '../../lib/core/new-execution.ts'
import type { SearchKey } from '../../lib/core/search-keys.ts'
import { WAIT_RESULT } from '../../lib/core/step.ts'
import type { Wait, WaitRequest } from '../../lib/core/wait.ts'
import { agentStore } from '../../lib/dynamodb/agent-store.ts'
import { cacheStore, idempotencyStore } from '../../lib/dynamodb/cache-stores.ts'
import { executionStore } from '../../lib/dynamodb/executions/execution-store.ts'
import { stepStore } from '../../lib/dynamodb/executions/step-store.ts'
import type { Table } from '../../lib/dynamodb/table/table.ts'
import { runOptions } from '../../test/support/engine/executions.ts'
import { payloadOf } from './payloads.ts'

/**
 * - `keyed`: a synchronous run by an agent that declares a key
 * - `sleeping`: an asynchronous run of a code agent that is suspended for a day
 * - `model`: an asynchronous run with five model responses, all but the last with a tool call
 * - `cached`: reuses a stored result
 * - `waiting`: has the cache key of a run that is in progress, and looks at it once
 * - `repeated`: repeats an idempotency key
 */
export type RunKind = 'sync' | 'keyed' | 'async' | 'sleeping' | 'model' | 'cached' | 'waiting' | 'repeated'

/** `shared`: the cache key or idempotency key, which other runs may have, too. `process`: what accepts the run. */
export type Run = {
  process: number
  id: string
  organizationId: string
  agentId: string
  tenantId: string | null
  shared: string
  now: number
}

/** How long a process uses an agent's current version without reading it again (`lib/agents/resolve-version.ts`). */
const CURRENT_VERSION_TTL_MS = 1_000

/** Between the writes of a run; the counts do not depend on it. */
const WRITE_INTERVAL_MS = 5
const SLEEP_MS = 86_400_000
const MODEL_STEP_MS = 4_000
const MODEL_STEPS = 5
/** With the first step, and by a heartbeat every 10 s. */
const RENEWED_STEPS = [1, 3]

const STEP = { response: 'x'.repeat(600) }

/** `unmetered`: the same table, for what other runs have written. `payloadBytes`: of each input and each output. */
type Options = { table: Table; unmetered: Table; payloadBytes: number }

/** Returns a function that makes the store calls of one run, in the order in which the engine makes them. */
export function runWalker({
  table,
  unmetered,
  payloadBytes,
}: Options): (kind: RunKind, run: Run) => Promise<void> {
  const payload = payloadOf(payloadBytes)
  const [agents, executions, cache] = [agentStore(table), executionStore(table), cacheStore(table)]
  const [steps, idempotency] = [stepStore(table), idempotencyStore(table)]

  async function start(
    run: Run,
    leased: boolean,
    cacheKey?: string,
    keys: SearchKey[] = [],
  ): Promise<Execution> {
    const lease = leased ? { owner: run.id, expiresAt: run.now + LEASE_MS } : null
    const execution = newExecution({ ...executionDetails(run, payload, cacheKey), keys, lease })
    await executions.create({ execution })
    return execution
  }
  const stored = new Set<string>()
  async function storeResult({ shared: key, id: executionId, now }: Run): Promise<void> {
    if (stored.has(key)) return
    stored.add(key)
    const results = cacheStore(unmetered)
    await results.reserve({ key, executionId, replaces: null, now })
    await results.store({ key, executionId, output: payload, expiresAt: null })
  }
  const claim = ({ id, now }: Run) =>
    executions.claim({
      id,
      lease: { owner: id, expiresAt: now + WRITE_INTERVAL_MS + LEASE_MS },
      now: now + WRITE_INTERVAL_MS,
    })
  const finish = (execution: Execution, now: number) =>
    executions.finish({
      execution: { ...execution, lease: { owner: execution.id, expiresAt: now + LEASE_MS } },
      outcome: { status: 'SUCCESS', output: payload, steps: 0, usage: NO_USAGE, model: null },
      finishedAt: new Date(now).toISOString(),
    })

  const walks: Record<RunKind, (run: Run) => Promise<unknown>> = {
    async sync(run) {
      await finish(await start(run, true), run.now + WRITE_INTERVAL_MS)
    },
    async keyed(run) {
      const keys = [{ name: 'orderId', value: 'O-1300' }]
      await finish(await start(run, true, undefined, keys), run.now + WRITE_INTERVAL_MS)
    },
    async async(run) {
      const execution = await start(run, false)
      await claim(run)
      await finish(execution, run.now + 2 * WRITE_INTERVAL_MS)
      await executions.get(run)
    },
    async sleeping(run) {
      const { id, now } = run
      const execution = await start(run, false)
      await claim(run)
      const at = now + 2 * WRITE_INTERVAL_MS
      const until = at + SLEEP_MS
      const [since, end] = [new Date(at).toISOString(), new Date(until).toISOString()]
      const times = { startedAt: since, finishedAt: since }
      const request: WaitRequest = { kind: 'sleep', until: end }
      const progress: Progress = { steps: 1, usage: NO_USAGE, model: null }
      const step = { kind: 'WAIT' as const, number: 1, name: 'nap', wait: request, ...times }
      await steps.append({ executionId: id, owner: id, step, progress })
      const waits: Wait[] = [{ kind: 'sleep', name: 'nap', since, until: end, step: 1 }]
      const suspension = { at, until, waits }
      const deadlineAt = until + DEADLINE_MS
      await executions.suspend({ execution, owner: id, suspension, openUntil: until, deadlineAt, progress })
      const suspended = await executions.getSuspended({ id })
      if (!suspended) throw new Error('The run is not suspended.')
      const lease = { owner: id, expiresAt: until + LEASE_MS }
      await executions.wake({ execution: suspended, lease, openUntil: until + LEASE_MS, now: until })
      const result = { callId: WAIT_RESULT, result: { ok: true as const, value: null }, ...times }
      await steps.appendResult({ executionId: id, number: 1, result })
      await finish(execution, until + WRITE_INTERVAL_MS)
      await executions.get(run)
    },
    async model(run) {
      const execution = await start(run, false)
      await claim(run)
      for (let number = 1; number <= MODEL_STEPS; number++) {
        const expiresAt = run.now + number * MODEL_STEP_MS + LEASE_MS
        const progress: Progress = { steps: number, usage: NO_USAGE, model: 'a/model' }
        if (RENEWED_STEPS.includes(number))
          await executions.renew({ id: run.id, lease: { owner: run.id, expiresAt }, progress })
        const isLast = number === MODEL_STEPS
        const step = { ...STEP, number, ...(isLast && { answer: payload }) } as never
        await steps.append({ executionId: run.id, owner: run.id, step, progress })
        if (isLast) break
        await executions.isLeasedBy({ id: run.id, owner: run.id })
        const result = { callId: `call-${number}`, ...STEP } as never
        await steps.appendResult({ executionId: run.id, number, result })
      }
      await finish(execution, run.now + MODEL_STEPS * MODEL_STEP_MS)
      await executions.get(run)
    },
    async cached(run) {
      await storeResult(run)
      const hit = await cache.get({ key: run.shared, now: run.now })
      if (!hit?.output) throw new Error(`The result of ${run.shared} is not stored.`)
      const details = executionDetails(run, payload, run.shared)
      await executions.create({ execution: cachedExecution(details, hit.executionId, hit.output) })
    },
    async waiting(run) {
      await cache.get({ key: run.shared, now: run.now })
      await start(run, true, run.shared)
      const leader = await cache.reserve({
        key: run.shared,
        executionId: run.id,
        replaces: null,
        now: run.now,
      })
      if (leader.executionId !== run.id) await executions.getStatus({ ...run, id: leader.executionId })
    },
    async repeated(run) {
      const expiresAt = run.now + IDEMPOTENCY_MS
      const reservation = { agentId: run.agentId, key: run.shared, executionId: run.id, requestHash: 'same' }
      const kept = await idempotency.reserve({ ...reservation, now: run.now, expiresAt })
      if (kept.executionId === run.id) await walks.sync(run)
      else await executions.get({ ...run, id: kept.executionId })
    },
  }

  /** When each process last read each agent. */
  const readAt = new Map<string, number>()
  async function resolveVersion({ process, organizationId, agentId, now }: Run): Promise<void> {
    const name = `${process} ${agentId}`
    if (now - (readAt.get(name) ?? Number.NEGATIVE_INFINITY) < CURRENT_VERSION_TTL_MS) return
    readAt.set(name, now)
    await agents.get({ organizationId, id: agentId })
  }
  return async (kind, run) => {
    await resolveVersion(run)
    await walks[kind](run)
  }
}

const executionDetails = (run: Run, input: JsonObject, cacheKey?: string) => ({
  ...{ id: run.id, organizationId: run.organizationId, agentId: run.agentId, versionId: run.agentId },
  ...{ tenantId: run.tenantId, input, options: runOptions(), now: run.now, deadlineMs: DEADLINE_MS },
  ...(cacheKey && { cache: { key: cacheKey, ttlSeconds: null } }),
})
