import { Unavailable } from '../../../core/errors.ts'
import {
  type Execution,
  type ExecutionSummary,
  isFinal,
  type SuspendedExecution,
} from '../../../core/execution.ts'
import type { SubjectEvent } from '../../../core/notification.ts'
import { timerOf } from '../../waiting/suspend.ts'
import { hasArrived } from '../../waiting/wake.ts'
import type { DeliveryEngine } from '../open-delivery-engine.ts'
import { endOf } from '../outbox.ts'
import type { ReadSubject } from './event-subject.ts'

/** Above this many bytes of JSON, a record is sent without its payloads. */
const MAX_DATA_BYTES = 256_000

/** Of an execution: its waits and its end. @throws Unavailable */
export const readExecutionEvents: ReadSubject = async (engine, key) => {
  const stored = await readExecution(engine, key)
  const execution = stored ?? (await engine.executions.getDeleted(key))
  return (
    execution && {
      addressed: execution,
      events: eventsOf(execution),
      dataOf: (event) => dataOf(engine, execution, event, stored === null),
      async setHandled() {
        if (isFinal(execution)) await engine.deliveries.setHandled({ kind: 'execution', id: key.id })
        else if (execution.suspension && execution.pendingEvents.length > 0)
          await restoreTimer(engine, execution as SuspendedExecution)
      },
    }
  )
}

/**
 * Without payloads if these are too large to be sent, or cannot be read: the events of an execution do not depend on
 * them. Null if it is deleted.
 */
async function readExecution(
  { executions }: DeliveryEngine,
  key: { organizationId: string; id: string },
): Promise<Execution | ExecutionSummary | null> {
  const execution = await executions
    .getLimited({ ...key, maxBytes: MAX_DATA_BYTES })
    .catch((error: unknown) => {
      if (error instanceof Unavailable) throw error
      return null
    })
  return execution ?? executions.getSummary(key)
}

/** Those that destinations may not have been told of: the waits that are pending, and the end. */
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
  const json = 'input' in then && JSON.stringify(toRecord(then as Execution))
  if (json && Buffer.byteLength(json) <= MAX_DATA_BYTES) return json
  if (!isDeleted) return JSON.stringify(toSummary(then))
  return JSON.stringify({ ...toSummary(then), error: undefined, deleted: true })
}

/** Unless the execution has to be resumed: the message that does may be lost, and the timer is due soon. */
async function restoreTimer(engine: DeliveryEngine, execution: SuspendedExecution): Promise<void> {
  if (await hasArrived(engine, execution)) return
  const openUntil = timerOf(engine, execution.suspension)
  await engine.executions.clearEvents({ execution, openUntil })
}
