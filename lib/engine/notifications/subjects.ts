import { Unavailable } from '../../core/errors.ts'
import {
  type Execution,
  type ExecutionSummary,
  isFinal,
  type SuspendedExecution,
} from '../../core/execution.ts'
import { AUDIT_EVENT, type EventType, type Subject, type SubjectEvent } from '../../core/notification.ts'
import type { OwnedId } from '../../core/ports/system.ts'
import { findLowScore, scoredBy } from '../../core/run-score.ts'
import { ownerOf } from '../../core/usage-limits.ts'
import { withLinks } from '../waiting/approvals.ts'
import { timerOf } from '../waiting/suspend.ts'
import { hasArrived } from '../waiting/wake.ts'
import {
  type Addressed,
  addressedOfBatch,
  addressedOfLimit,
  addressedOfRollout,
  addressedTo,
} from './destinations.ts'
import type { DeliveryEngine } from './open-delivery-engine.ts'
import { endOf } from './outbox.ts'

/** What has events, as it was read to deliver them. */
export type EventSubject = {
  addressed: Addressed
  /** The execution, which a trace is made of; absent if it is deleted, and for other subjects. */
  execution?: Execution | ExecutionSummary
  /** Events that destinations may not have been told of. */
  events: SubjectEvent[]
  /** JSON of the record that clients see, as it was at the time of the event. */
  dataOf(event: SubjectEvent): string
  /** All events have deliveries. @throws Unavailable */
  setHandled(): Promise<void>
}

type ReadSubject = (engine: DeliveryEngine, key: OwnedId) => Promise<EventSubject | null>

/** Above this many bytes of JSON, a record is sent without its payloads. */
const MAX_DATA_BYTES = 256_000

/** No change takes longer: a function may run for 15 minutes. */
const MAX_CHANGE_MS = 15 * 60_000

const READERS: Record<Subject['kind'], ReadSubject> = {
  execution: readExecutionEvents,
  batch: readBatchEvents,
  limit: readLimitEvents,
  rollout: readRolloutEvents,
  audit: readAuditEvents,
}

/** Null if it is deleted, or of another organization. @throws Unavailable */
export const readSubject = (
  engine: DeliveryEngine,
  { subject, organizationId }: { subject: Subject; organizationId: string },
): Promise<EventSubject | null> => READERS[subject.kind](engine, { organizationId, id: subject.id })

/** A subject that has one event. */
const eventOf = (subject: Subject, { organizationId }: OwnedId, type: EventType, occurredAt: string) =>
  [{ subject, organizationId, revision: 1, type, occurredAt }] satisfies SubjectEvent[]

/** The waits and the end of an execution. */
async function readExecutionEvents(engine: DeliveryEngine, key: OwnedId): Promise<EventSubject | null> {
  const stored = await readExecution(engine, key)
  const execution = stored ?? (await engine.executions.getDeleted(key))
  const low = stored && findLowScore(stored)
  return (
    execution && {
      // Webhooks select it by the agent whose run it is about.
      addressed: low ? { ...execution, agentId: low.agentId } : execution,
      ...(stored && { execution: stored }),
      events: eventsOf(execution).map((event) => (low ? { ...event, type: 'score.low' } : event)),
      dataOf: (event) => (low ? JSON.stringify(low) : dataOf(engine, execution, event, stored === null)),
      async setHandled() {
        if (isFinal(execution)) await engine.deliveries.setHandled({ kind: 'execution', id: key.id })
        else if (execution.suspension && execution.pendingEvents.length > 0)
          await restoreTimer(engine, execution as SuspendedExecution)
      },
    }
  )
}

/** The end of a batch. */
async function readBatchEvents({ batches, deliveries, toBatchRecord }: DeliveryEngine, key: OwnedId) {
  const batch = await batches.get(key)
  const subject = { kind: 'batch', id: key.id } as const
  return (
    batch && {
      addressed: addressedOfBatch(batch),
      events: batch.endedAt ? eventOf(subject, key, 'batch.ended', batch.endedAt) : [],
      dataOf: () => JSON.stringify(toBatchRecord(batch)),
      async setHandled() {
        if (!batch.endedAt) return
        await deliveries.setHandled(subject)
        // A deletion that began meanwhile may have found no deliveries yet.
        if (!(await batches.get(key))) await deliveries.deleteOf(subject)
      },
    }
  )
}

/** The warning of a cost limit. */
async function readLimitEvents({ limits, deliveries }: DeliveryEngine, key: OwnedId) {
  const warning = await limits.getWarning(key)
  if (!warning) return null
  const { id, subject: limited, period, limitUsd, spentUsd, warnAt, at } = warning
  const subject = { kind: 'limit', id } as const
  const data = { id, ...ownerOf(limited), period, limitUsd, spentUsd, warnAt, at }
  return {
    addressed: addressedOfLimit(warning),
    events: eventOf(subject, key, 'limit.warning', at),
    dataOf: () => JSON.stringify(data),
    setHandled: () => deliveries.setHandled(subject),
  }
}

/** The end of a rollout by the service. */
async function readRolloutEvents({ rollouts, deliveries }: DeliveryEngine, key: OwnedId) {
  const aborted = await rollouts.getAborted(key)
  if (!aborted) return null
  const { organizationId: _, ...data } = aborted
  const subject = { kind: 'rollout', id: aborted.id } as const
  return {
    addressed: addressedOfRollout(aborted),
    events: eventOf(subject, key, 'rollout.aborted', aborted.at),
    dataOf: () => JSON.stringify(data),
    setHandled: () => deliveries.setHandled(subject),
  }
}

/** An entry of the audit log, once it has a result, or will have none any more. */
async function readAuditEvents({ audit, deliveries, system }: DeliveryEngine, key: OwnedId) {
  const entry = await audit.get(key)
  if (!entry) return null
  const subject = { kind: 'audit', id: entry.id } as const
  const isOver = entry.result !== 'STARTED' || system.now() - Date.parse(entry.at) > MAX_CHANGE_MS
  return {
    // No webhook can select it.
    addressed: addressedTo(entry.organizationId),
    events: isOver ? eventOf(subject, key, AUDIT_EVENT, entry.at) : [],
    dataOf: () => JSON.stringify(entry),
    // Otherwise, the sweeper asks again.
    setHandled: async () => (isOver ? deliveries.setHandled(subject) : undefined),
  }
}

/**
 * Without payloads if these are too large to be sent, or cannot be read: the events of an execution do not depend on
 * them. Null if it is deleted.
 */
async function readExecution({ executions }: DeliveryEngine, key: OwnedId) {
  const reading = executions.getLimited({ ...key, maxBytes: MAX_DATA_BYTES })
  const execution = await reading.catch((error: unknown) => {
    if (error instanceof Unavailable) throw error
    return null
  })
  // What has been scored may be large, what the scorer says about it is not.
  if (execution && scoredBy(execution) && !('output' in execution)) return executions.get(key)
  return execution ?? executions.getSummary(key)
}

/** Events that destinations may not have been told of: the waits that are pending, and the end. */
function eventsOf(execution: ExecutionSummary): SubjectEvent[] {
  const { id, organizationId, pendingEvents, attempts, finishedAt } = execution
  const ids = { subject: { kind: 'execution' as const, id }, organizationId }
  const waiting = pendingEvents.map(({ revision, at, waits }): SubjectEvent => {
    return { ...ids, revision, type: 'execution.waiting', occurredAt: new Date(at).toISOString(), waits }
  })
  if (!isFinal(execution) || !finishedAt) return waiting
  // An attempt waits at most once.
  return [...waiting, { ...ids, revision: attempts + 1, type: endOf(execution), occurredAt: finishedAt }]
}

/** JSON of the record, as it was at the time of the event. */
function dataOf(
  { toRecord, toSummary }: DeliveryEngine,
  execution: Execution | ExecutionSummary,
  { type, occurredAt, waits = [] }: SubjectEvent,
  isDeleted: boolean,
): string {
  const at = Date.parse(occurredAt)
  const suspension = { at, until: at, waits }
  const waiting = { status: 'IN_PROGRESS', output: null, error: null, finishedAt: null, suspension } as const
  const then = type === 'execution.waiting' ? { ...execution, ...waiting } : execution
  const json = 'input' in then && JSON.stringify(withLinks(toRecord(then as Execution), execution))
  if (json && Buffer.byteLength(json) <= MAX_DATA_BYTES) return json
  const summary = withLinks(toSummary(then), execution)
  return JSON.stringify(isDeleted ? { ...summary, error: undefined, deleted: true } : summary)
}

/** Unless the execution has to be resumed: the message that does may be lost, and the timer is due soon. */
async function restoreTimer(engine: DeliveryEngine, execution: SuspendedExecution): Promise<void> {
  if (await hasArrived(engine, execution)) return
  const openUntil = timerOf(engine, execution.suspension)
  await engine.executions.clearEvents({ execution, openUntil })
}
