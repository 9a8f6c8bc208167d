import { type Environment, EXECUTION_RETENTION_DAYS, readInteger } from '../../environment.ts'
import type { Item } from './expressions.ts'
import { executionIdOf, isExecutionRecord, isOfExecution, type Key } from './keys.ts'
import { TABLE } from './schema.ts'

const DAY_MS = 86_400_000

/**
 * Steps and chunks are kept longer than their record, so that no record loses them: DynamoDB deletes in no particular
 * order, within a few days of the expiry. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/TTL.html
 */
const SLACK_MS = 7 * DAY_MS

export type Retention = {
  /** When the execution expires, in milliseconds since the epoch; null if it does not. */
  expiryOf(executionId: string): number | null
  /** The time-to-live attribute of an execution's item; empty for other items. */
  timeToLiveOf(item: Item): Item
}

/** @throws an Error that names the variable when it is invalid */
export function retention(environment: Environment): Retention {
  if (!environment[EXECUTION_RETENTION_DAYS]) return { expiryOf: () => null, timeToLiveOf: () => ({}) }
  const keptMs = readInteger(EXECUTION_RETENTION_DAYS, 0, environment) * DAY_MS
  const expiryOf = (executionId: string) => createdAt(executionId) + keptMs
  return {
    expiryOf,
    timeToLiveOf(item) {
      const key = item as Key
      if (!isOfExecution(key)) return {}
      return timeToLive(expiryOf(executionIdOf(key.pk)) + (isExecutionRecord(key) ? 0 : SLACK_MS))
    },
  }
}

/** The time-to-live attribute, which is in seconds. */
export const timeToLive = (ms: number): Item => ({ [TABLE.timeToLive]: Math.ceil(ms / 1000) })

/** The first 48 bits of a UUIDv7 are its time of creation in milliseconds (RFC 9562, section 5.7). */
const createdAt = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
