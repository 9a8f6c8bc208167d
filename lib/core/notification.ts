import type { Execution, ExecutionSummary } from './execution.ts'
import type { Wait } from './wait.ts'

/** What destinations can be told. */
export const EVENT_TYPES = [
  'execution.succeeded',
  'execution.failed',
  'execution.cancelled',
  'execution.waiting',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** What happened to an execution. Its id is the same for all destinations and attempts. */
export type ExecutionEvent = {
  executionId: string
  organizationId: string
  /** Later events of an execution have higher numbers. */
  revision: number
  type: EventType
  /** ISO 8601 */
  occurredAt: string
  /** Of `execution.waiting`: what the execution waited for then. */
  waits?: Wait[]
}

/** What a destination gets: an event, or an example. */
export type SentEvent = Omit<ExecutionEvent, 'type'> & { type: EventType | 'webhook.test' }

export const eventIdOf = ({ executionId, revision }: Pick<ExecutionEvent, 'executionId' | 'revision'>) =>
  `evt_${executionId}_${revision}`

/** Null if it is not an event's id. */
export function parseEventId(id: string): Pick<ExecutionEvent, 'executionId' | 'revision'> | null {
  const [, executionId = '', revision] = /^evt_([0-9a-f-]{36})_(\d{1,7})$/.exec(id) ?? []
  return revision === undefined ? null : { executionId, revision: Number(revision) }
}

/** The sources of executions that have events: those that agents start have none. */
export const EVENT_SOURCES = ['API', 'BATCH', 'SCHEDULE'] as const satisfies Execution['source'][]

/** An endpoint of an organization that receives its events. Lists that are null select everything. */
export type Webhook = {
  id: string
  organizationId: string
  url: string
  types: EventType[]
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

/** Of the URL that is given with a run, signed with the default secret. */
export const DEFAULT_WEBHOOK = 'default'
/** The event bus of the deployment. */
export const EVENT_BUS = 'event-bus'

export type DeliveryStatus = 'PENDING' | 'DELIVERED' | 'FAILED'

/** One event for one destination. */
export type Delivery = ExecutionEvent & {
  /** The id of a webhook, `DEFAULT_WEBHOOK` or `EVENT_BUS`. */
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

/** The result of one attempt. `isGone`: the receiver wants no more deliveries. */
export type DeliveryResult = {
  ok: boolean
  responseStatus: number | null
  error: string | null
  isGone: boolean
}

/** What selects the events of a webhook. */
export function selects(
  { enabled, types, agentIds, tenantIds, sources }: Webhook,
  { agentId, tenantId, source }: Pick<ExecutionSummary, 'agentId' | 'tenantId' | 'source'>,
  type: EventType,
): boolean {
  return (
    enabled &&
    types.includes(type) &&
    (agentIds?.includes(agentId) ?? true) &&
    (tenantIds === null || (tenantId !== null && tenantIds.includes(tenantId))) &&
    (sources?.includes(source) ?? true)
  )
}
