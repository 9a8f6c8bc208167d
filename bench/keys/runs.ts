import { cachedExecution, type Execution, newExecution, type Outcome } from '../../lib/core/execution.ts'
import { DEADLINE_MS, IDEMPOTENCY_MS, LEASE_MS } from '../../lib/core/limits.ts'
import type { Progress } from '../../lib/core/ports.ts'
import { agentStore } from '../../lib/dynamodb/agent-store.ts'
import { cacheStore } from '../../lib/dynamodb/cache-store.ts'
import { executionStore } from '../../lib/dynamodb/execution-store.ts'
import { idempotencyStore } from '../../lib/dynamodb/idempotency-store.ts'
import { stepStore } from '../../lib/dynamodb/step-store.ts'
import type { Table } from '../../lib/dynamodb/table.ts'
import type { Member } from './population.ts'

/**
 * `model`: asynchronous, five responses with a tool call in each but the last. `waiting`: of many runs with one cache key
 * and no result yet, those that look once at the one that is at work. `repeated`: the same idempotency key again.
 */
export type RunKind = 'sync' | 'async' | 'model' | 'cached' | 'waiting' | 'repeated'

/** One run: `shared` names the cache key or idempotency key that others have too. */
export type Run = Member & { id: string; now: number; shared: string }

/** Milliseconds between the writes of a run; what breaks does not depend on them. */
const PACE_MS = 5
const MODEL_STEP_MS = 4_000
const MODEL_STEPS = 5

const INPUT = { text: 'Nothing works any more since this morning, please help.' }
const OUTPUT: Outcome = {
  status: 'SUCCESS',
  output: { summary: 'An outage.', urgent: true },
  steps: 0,
  usage: { inputTokens: 0, outputTokens: 0 },
  model: null,
}
const STEP = { response: 'x'.repeat(600) }

/** Walks runs through the service's own stores, in the order in which the engine calls them. */
export function runWalker(table: Table): (kind: RunKind, run: Run) => Promise<void> {
  const [agents, executions, cache] = [agentStore(table), executionStore(table), cacheStore(table)]
  const [steps, idempotency] = [stepStore(table), idempotencyStore(table)]

  async function begin(run: Run, leased: boolean, cacheKey?: string): Promise<Execution> {
    const lease = leased ? { owner: run.id, expiresAt: run.now + LEASE_MS } : null
    const execution = newExecution({ ...detailsOf(run, cacheKey), lease })
    await executions.create({ execution })
    return execution
  }
  const end = (execution: Execution, now: number) =>
    executions.finish({
      execution,
      owner: execution.id,
      outcome: OUTPUT,
      finishedAt: new Date(now).toISOString(),
    })
  const claim = (id: string, now: number) =>
    executions.claim({ id, lease: { owner: id, expiresAt: now + LEASE_MS }, now })

  const walks: Record<RunKind, (run: Run) => Promise<unknown>> = {
    async sync(run) {
      await end(await begin(run, true), run.now + PACE_MS)
    },
    async async(run) {
      const execution = await begin(run, false)
      await claim(run.id, run.now + PACE_MS)
      await end(execution, run.now + 2 * PACE_MS)
      await executions.get(run)
    },
    async model(run) {
      const execution = await begin(run, false)
      await claim(run.id, run.now + PACE_MS)
      for (let number = 1; number <= MODEL_STEPS; number++) {
        const expiresAt = run.now + number * MODEL_STEP_MS + LEASE_MS
        const progress: Progress = { steps: number, usage: OUTPUT.usage, model: 'a/model' }
        await executions.renew({ id: run.id, lease: { owner: run.id, expiresAt }, progress })
        await steps.append({ executionId: run.id, owner: run.id, step: { ...STEP, number } as never })
        if (number === MODEL_STEPS) break
        const result = { callId: `call-${number}`, ...STEP } as never
        await steps.appendResult({ executionId: run.id, number, result })
      }
      await end(execution, run.now + MODEL_STEPS * MODEL_STEP_MS)
      await executions.get(run)
    },
    async cached(run) {
      const hit = await cache.get({ key: run.shared, now: run.now })
      const from = hit?.executionId ?? run.id
      const details = detailsOf(run, run.shared)
      await executions.create({ execution: cachedExecution(details, from, { ...INPUT }) })
    },
    async waiting(run) {
      await cache.get({ key: run.shared, now: run.now })
      await begin(run, true, run.shared)
      const leader = await cache.lead({ key: run.shared, executionId: run.id, instead: null, now: run.now })
      if (leader.executionId !== run.id) await executions.getStatus({ ...run, id: leader.executionId })
    },
    async repeated(run) {
      const expiresAt = run.now + IDEMPOTENCY_MS
      const asked = { agentId: run.agentId, key: run.shared, executionId: run.id, fingerprint: 'same' }
      const kept = await idempotency.reserve({ ...asked, now: run.now, expiresAt })
      if (kept.executionId === run.id) await walks.sync(run)
      else await executions.get({ ...run, id: kept.executionId })
    },
  }
  return async (kind, run) => {
    await agents.get({ organizationId: run.organizationId, id: run.agentId })
    await walks[kind](run)
  }
}

const detailsOf = ({ id, organizationId, agentId, tenantId, now }: Run, cacheKey?: string) => ({
  id,
  organizationId,
  agentId,
  versionId: agentId,
  tenantId,
  input: INPUT,
  options: { maxAgentSteps: 100, model: null, useDynamicLearning: false },
  now,
  deadlineMs: DEADLINE_MS,
  ...(cacheKey && { cache: { key: cacheKey, ttlSeconds: null } }),
})
