import { DAY_MS, DEADLINE_MS } from '../../core/limits.ts'
import { type Environment, readSetting } from '../../environment.ts'
import type { Item } from './expressions.ts'
import {
  abortedRolloutIdOf,
  auditIdOf,
  batchIdOf,
  deliveredAuditIdOf,
  executionIdOf,
  isDeclarations,
  isExecutionRecord,
  isOfExecution,
  isResponse,
  type Key,
  ownerBatchIdOf,
  warningIdOf,
} from './keys.ts'
import { TABLE } from './schema.ts'

/**
 * Steps and chunks are kept longer than their record, so that no record loses them: DynamoDB deletes in no particular
 * order, within a few days of the expiry. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/TTL.html
 */
const SLACK_MS = 7 * DAY_MS

/** The time in the id of a warning is the start of its period. */
const MAX_PERIOD_MS = 31 * DAY_MS

/** Deliveries of entries of an audit log are over after three days, and nobody lists them. */
const DELIVERED_AUDIT_MS = 30 * DAY_MS

export type Retention = {
  /** When a copy of an execution's result expires, in milliseconds since the epoch: not after its record; or null. */
  expiryOf(executionId: string): number | null
  /**
   * The time-to-live attribute of an item of an execution, a batch, a warning, an aborted rollout, declarations or an
   * audit log. A record has none until it has ended: it can wait for long. Other items are not written again then: they
   * expire after the latest possible end. Empty if it is no such item, or a response, which has its own.
   */
  timeToLiveOf(item: Item): Item
}

/** @throws an Error that names the variable when it is invalid */
export function retention(environment: Environment): Retention {
  const auditMs = readSetting('auditRetentionDays', environment) * DAY_MS
  const timeToLiveOfAudit = (key: Key): Item => {
    const id = auditIdOf(key)
    if (id !== null) return timeToLive(createdAt(id) + auditMs)
    const deliveredId = deliveredAuditIdOf(key)
    return deliveredId === null ? {} : timeToLive(createdAt(deliveredId) + DELIVERED_AUDIT_MS)
  }
  const keptDays = readSetting('executionRetentionDays', environment)
  if (keptDays === null)
    return { expiryOf: () => null, timeToLiveOf: (item) => timeToLiveOfAudit(item as Key) }
  const keptMs = keptDays * DAY_MS
  const maxWaitMs = readSetting('maxWaitDays', environment) * DAY_MS
  const expiryOf = (executionId: string) => createdAt(executionId) + keptMs
  return {
    expiryOf,
    timeToLiveOf(item) {
      const key = item as Key
      const warningId = warningIdOf(key)
      if (warningId !== null) return timeToLive(expiryOf(warningId) + MAX_PERIOD_MS + SLACK_MS)
      if (isDeclarations(key))
        return timeToLive(Number(item.usedUntil) + keptMs + DEADLINE_MS + maxWaitMs + SLACK_MS)
      const abortedId = abortedRolloutIdOf(key)
      if (abortedId !== null) return timeToLive(expiryOf(abortedId) + SLACK_MS)
      if (isResponse(key)) return {}
      const id = isOfExecution(key) ? executionIdOf(key.pk) : ownerBatchIdOf(key)
      if (id === null) return timeToLiveOfAudit(key)
      if (!isExecutionRecord(key) && batchIdOf(key) === null)
        return timeToLive(expiryOf(id) + DEADLINE_MS + maxWaitMs + SLACK_MS)
      const { finishedAt, endedAt = finishedAt } = item
      return typeof endedAt === 'string' ? timeToLive(Date.parse(endedAt) + keptMs) : {}
    },
  }
}

/** The time-to-live attribute, which is in seconds. */
export const timeToLive = (ms: number): Item => ({ [TABLE.timeToLive]: Math.ceil(ms / 1000) })

/** The first 48 bits of a UUIDv7 are its time of creation in milliseconds (RFC 9562, section 5.7). */
const createdAt = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
