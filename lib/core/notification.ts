import type { Execution } from './execution.ts'
import type { Wait } from './wait.ts'

/** Events of executions: what a webhook gets that selects no types. */
export const EXECUTION_EVENT_TYPES = [
  'execution.succeeded',
  'execution.failed',
  'execution.cancelled',
  'execution.waiting',
] as const
/** What webhooks can be told. */
export const EVENT_TYPES = [
  ...EXECUTION_EVENT_TYPES,
  'batch.ended',
  'limit.warning',
  'rollout.aborted',
  'score.low',
] as const
/** Of an entry of the audit log. Only the event bus gets it: webhooks cannot select it. */
export const AUDIT_EVENT = 'audit.recorded'
export type WebhookEventType = (typeof EVENT_TYPES)[number]
export type EventType = WebhookEventType | typeof AUDIT_EVENT

/** What an event is about. Its deliveries are stored beside its record, and deleted with it. */
export type Subject = { kind: (typeof SUBJECT_KINDS)[number]; id: string }
export const SUBJECT_KINDS = ['execution', 'batch', 'limit', 'rollout', 'audit'] as const

export const isSubjectKind = (kind: unknown): kind is Subject['kind'] =>
  SUBJECT_KINDS.includes(kind as Subject['kind'])

/** What happened to a subject. The id of an event is the same for all destinations and attempts. */
export type SubjectEvent = {
  subject: Subject
  organizationId: string
  /** Later events of a subject have higher numbers. */
  revision: number
  type: EventType
  /** ISO 8601 */
  occurredAt: string
  /** Of `execution.waiting`: what the execution waited for then. */
  waits?: Wait[]
}

/** What a destination gets: an event, or an example. */
export type SentEvent = Omit<SubjectEvent, 'type'> & { type: EventType | 'webhook.test' }

/** `evt_<id>_<revision>`, with the kind of the subject before its id unless it is an execution. */
export const eventIdOf = ({ subject, revision }: Pick<SubjectEvent, 'subject' | 'revision'>): string =>
  `evt_${subject.kind === 'execution' ? '' : `${subject.kind}_`}${subject.id}_${revision}`

/** Null if it is not an event's id. */
export function parseEventId(text: string): Pick<SubjectEvent, 'subject' | 'revision'> | null {
  const [, kind = 'execution', id = '', revision] =
    /^evt_(?:([a-z]+)_)?([0-9a-f-]{36})_(\d{1,7})$/.exec(text) ?? []
  if (revision === undefined || !isSubjectKind(kind)) return null
  return { subject: { kind, id }, revision: Number(revision) }
}

/** The sources of executions that have events: those that agents start have none. */
export const EVENT_SOURCES = ['API', 'BATCH', 'SCHEDULE'] as const satisfies Execution['source'][]

/** An endpoint of an organization that receives its events. Lists that are null select everything. */
export type Webhook = {
  id: string
  organizationId: string
  url: string
  types: WebhookEventType[]
  agentIds: string[] | null
  tenantIds: string[] | null
  sources: Execution['source'][] | null
  /** Hosts that may have addresses that are not public. */
  allowedHosts: string[]
  enabled: boolean
  /** Why the service has disabled it: the receiver answered 410, or all deliveries of three days have failed. */
  disabledReason: 'gone' | 'failing' | null
  /** Since when all deliveries have failed. ISO 8601 */
  failingSince: string | null
  /** ISO 8601 */
  createdAt: string
}

/** Newest first. `expiresAt`: of one that has been replaced; null for the current one. ISO 8601 */
export type WebhookSecret = { secret: string; createdAt: string; expiresAt: string | null }

/** Of the URL that is given with a run or a batch, signed with the default secret. */
export const DEFAULT_WEBHOOK = 'default'
/** The remote agent of a run, which is told of its cancel. */
export const REMOTE_AGENT = 'remote-agent'
/** The event bus of the deployment. */
export const EVENT_BUS = 'event-bus'

/** The receiver of the traces of the deployment. */
export const TRACES = 'traces'

/** The scorers of a run that has succeeded, which are started; of the run of a scorer, the run that it scores. */
export const SCORES = 'scores'

export type DeliveryStatus = 'PENDING' | 'DELIVERED' | 'FAILED'

/** One event for one destination. */
export type Delivery = SubjectEvent & {
  /** The id of a webhook, `DEFAULT_WEBHOOK`, `REMOTE_AGENT`, `EVENT_BUS`, `TRACES` or `SCORES`. */
  destinationId: string
  status: DeliveryStatus
  attempts: number
  /** Of the first attempt. ISO 8601 */
  createdAt: string
  /** Of the last attempt. ISO 8601 */
  attemptedAt: string
  /** ISO 8601; null unless it is pending. */
  nextAttemptAt: string | null
  /** The HTTP status of the last answer; null without one. */
  responseStatus: number | null
  /** What was wrong with the last attempt, at most 200 characters; null if it succeeded. */
  error: string | null
}

/** The result of one attempt. `isGone`: another one would be in vain. */
export type DeliveryResult = {
  ok: boolean
  responseStatus: number | null
  error: string | null
  isGone: boolean
}

/** What webhooks select the events of a subject by. Null: it has none. */
export type Selectable = {
  agentId: string | null
  tenantId: string | null
  source: Execution['source'] | null
}

/** What selects the events of a webhook. Sources select among executions alone, and not among scores. */
export function selects(
  { enabled, types, agentIds, tenantIds, sources }: Webhook,
  { agentId, tenantId, source }: Selectable,
  type: EventType,
): boolean {
  return (
    enabled &&
    types.some((each) => each === type) &&
    (agentIds === null || (agentId !== null && agentIds.includes(agentId))) &&
    (tenantIds === null || (tenantId !== null && tenantIds.includes(tenantId))) &&
    (sources === null || source === null || source === 'SCORE' || sources.includes(source))
  )
}
