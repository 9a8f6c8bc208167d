import { setTimeout as sleep } from 'node:timers/promises'
import { type Execution, NO_USAGE, type Outcome } from '../../core/execution.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Engine } from '../engine.ts'

/** Thrown to a run that another execution is at work for: it is given back, to look again after `waitMs`. */
export class WaitsForAnother extends Error {
  readonly waitMs: number

  constructor(waitMs: number) {
    super('Another execution computes the same result.')
    this.waitMs = waitMs
  }
}

type Params = {
  engine: Engine
  execution: Execution
  signal: AbortSignal
  /** Whether the run can come back, instead of keeping its worker while it waits. */
  comesBack: boolean
}

const FIRST_LOOK_MS = 50
const MAX_LOOK_MS = 1_000

/** A run that comes back looks again after as long as it has waited, within these limits. */
const MIN_REQUEUE_MS = 1_000
const MAX_REQUEUE_MS = 30_000

/**
 * Of executions with one cache key, one runs; the others wait for it and take its output over. Null: this one runs.
 * When the one that they waited for fails, they run, each for itself.
 * @throws WaitsForAnother
 */
export async function takeOver({ engine, execution, signal, comesBack }: Params): Promise<Outcome | null> {
  const { cache, executions, system } = engine
  const { id, organizationId } = execution
  if (!execution.cache) return null
  const { key } = execution.cache
  const lead = (instead: string | null) => cache.lead({ key, executionId: id, instead, now: system.now() })
  let entry = await lead(null)
  for (let waitMs = FIRST_LOOK_MS; entry.executionId !== id; waitMs = Math.min(waitMs * 1.5, MAX_LOOK_MS)) {
    if (entry.output) return copied(entry.executionId, entry.output)
    const leader = { organizationId, id: entry.executionId }
    const status = await executions.getStatus(leader)
    const output = status === 'SUCCESS' ? (await executions.get(leader))?.output : null
    if (output) return copied(leader.id, output)
    if (status !== 'IN_PROGRESS') {
      await lead(leader.id)
      return null
    }
    if (comesBack) throw new WaitsForAnother(nextLook(execution, system.now()))
    await sleep(waitMs, undefined, { signal })
    entry = (await cache.get({ key, now: system.now() })) ?? (await lead(null))
  }
  return null
}

/** Keeps what an execution gave for the next ones with its key, or lets one of them try. */
export async function settle(
  { cache, system }: Engine,
  execution: Execution,
  outcome: Outcome,
): Promise<void> {
  if (!execution.cache || (outcome.status === 'SUCCESS' && outcome.cached)) return
  const { key, ttlSeconds } = execution.cache
  const executionId = execution.id
  if (outcome.status !== 'SUCCESS') return cache.drop({ key, executionId })
  const expiresAt = ttlSeconds === null ? null : system.now() + ttlSeconds * 1000
  await cache.store({ key, executionId, output: outcome.output, expiresAt })
}

function copied(cachedExecutionId: string, output: JsonObject): Outcome {
  return {
    status: 'SUCCESS',
    output,
    steps: 0,
    usage: NO_USAGE,
    model: null,
    cached: true,
    cachedExecutionId,
  }
}

const nextLook = ({ createdAt }: Execution, now: number): number =>
  Math.min(Math.max(now - Date.parse(createdAt), MIN_REQUEUE_MS), MAX_REQUEUE_MS)
