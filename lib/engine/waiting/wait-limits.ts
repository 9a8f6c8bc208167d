import { LRUCache } from 'lru-cache'
import * as limits from '../../core/limits.ts'
import type { ExecutionStore, System } from '../../core/ports.ts'
import { type Environment, MAX_SUSPENDED_EXECUTIONS, MAX_WAIT_DAYS, readInteger } from '../../environment.ts'
import type { Engine } from '../engine.ts'

type Stores = { executions: Pick<ExecutionStore, 'countSuspended'>; system: Pick<System, 'now'> }

const DAY_MS = 86_400_000

/** The limits of suspended executions that the environment sets. @throws an Error that names the variable */
export function openWaitLimits(
  stores: Stores,
  environment: Environment = process.env,
): Required<Pick<Engine, 'maxWaitMs' | 'maySuspend'>> {
  const max = readInteger(MAX_SUSPENDED_EXECUTIONS, limits.MAX_SUSPENDED_EXECUTIONS, environment)
  const days = readInteger(MAX_WAIT_DAYS, limits.MAX_WAIT_DAYS.default, environment)
  return { maxWaitMs: days * DAY_MS, maySuspend: suspensionLimit(stores, max) }
}

const MAX_ORGANIZATIONS = 10_000

/** An organization at its limit is counted again after this time. */
const FULL_MS = 30_000

/** Below a limit of so many executions, each suspension counts them. */
const COUNTED = 1_000

/**
 * The limit of an organization's suspended executions. A count reads what it counts, so that the larger the limit is,
 * the fewer suspensions count: one in 100 at 100,000. Below 97 % of the limit, a suspension then reads two units of the
 * table on average, and 200 processes exceed the limit by about a fifth before each of them has counted.
 * The limit on open executions counts more often, because those come faster (../submit/admission.ts).
 */
export function suspensionLimit(
  { executions, system }: Stores,
  max: number,
  random = Math.random,
): NonNullable<Engine['maySuspend']> {
  const fullUntil = new LRUCache<string, number>({ max: MAX_ORGANIZATIONS })
  return async (organizationId) => {
    const known = fullUntil.get(organizationId)
    if (known !== undefined && system.now() < known) return false
    if (known === undefined && random() * max >= COUNTED) return true
    const isFull = (await executions.countSuspended({ organizationId, max })) >= max
    if (isFull) fullUntil.set(organizationId, system.now() + FULL_MS)
    else fullUntil.delete(organizationId)
    return !isFull
  }
}
