import { type Environment, EXECUTION_RETENTION_DAYS, numberOf } from '../environment.ts'
import type { Item } from './expressions.ts'
import { executionIdOf, isExecutionRecord, isOfExecution, type Key } from './keys.ts'
import { TABLE } from './schema.ts'

const DAY_MS = 86_400_000

/**
 * How much longer than a record its steps and chunks are kept, so that no record is left without them: DynamoDB
 * deletes in no order, "within a few days" of the time.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/TTL.html
 */
const SLACK_MS = 7 * DAY_MS

export type Retention = {
  /** Milliseconds since 1970 until which an execution is kept at least; null without a limit. */
  endOf(executionId: string): number | null
  /** The time to live of an item that belongs to an execution; nothing for others. */
  attributesOf(item: Item): Item
}

/** @throws an Error that names the variable when it is no whole number. */
export function retention(environment: Environment): Retention {
  if (!environment[EXECUTION_RETENTION_DAYS]) return { endOf: () => null, attributesOf: () => ({}) }
  const keptMs = numberOf(EXECUTION_RETENTION_DAYS, 0, environment) * DAY_MS
  const endOf = (executionId: string) => createdAt(executionId) + keptMs
  return {
    endOf,
    attributesOf(item) {
      const key = item as Key
      if (!isOfExecution(key)) return {}
      return timeToLive(endOf(executionIdOf(key.pk)) + (isExecutionRecord(key) ? 0 : SLACK_MS))
    },
  }
}

/** The attribute by which DynamoDB deletes an item, in seconds. */
export const timeToLive = (ms: number): Item => ({ [TABLE.timeToLive]: Math.ceil(ms / 1000) })

/** The first 48 bits of a UUIDv7 are the milliseconds at which it was made (RFC 9562, section 5.7). */
const createdAt = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
