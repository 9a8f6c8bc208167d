import { LRUCache } from 'lru-cache'
import type { Batch } from '../../core/batch.ts'
import type { ExecutionSummary } from '../../core/execution.ts'
import {
  DEFAULT_WEBHOOK,
  EVENT_BUS,
  type EventType,
  REMOTE_AGENT,
  SCORES,
  type Selectable,
  selects,
  TRACES,
  type Webhook,
} from '../../core/notification.ts'
import type { WebhookStore } from '../../core/ports/notifications.ts'
import type { AbortedEvent } from '../../core/rollout.ts'
import { scoredBy } from '../../core/run-score.ts'
import { isTraceSampled } from '../../core/traceparent.ts'
import { type LimitWarning, ownerOf } from '../../core/usage-limits.ts'
import { type Environment, readSetting } from '../../environment.ts'

/**
 * A receiver of events. `webhook`: null if the URL was given with the request, for the event bus and for traces, and
 * for a remote agent, which has `allowedHosts` of its own.
 */
export type Destination = {
  id: string
  webhook: Webhook | null
  url: string | null
  allowedHosts?: string[]
}

/** What decides who wants the events of a subject. */
export type Addressed = Selectable &
  Pick<ExecutionSummary, 'organizationId' | 'webhookUrl' | 'parentExecutionId' | 'isDraft'> &
  Partial<Pick<ExecutionSummary, 'id' | 'traceparent' | 'cached' | 'callbackSecret' | 'scored' | 'scores'>>

/** Webhooks that another process changes take effect within this time. */
const CACHED_MS = 30_000
const MAX_ORGANIZATIONS = 10_000

type Cache = LRUCache<string, Webhook[]>
const caches: Cache[] = []

/** To be called when this process changes webhooks, so that its runs see it at once. */
export const forgetWebhooks = (organizationId: string): void => {
  for (const known of caches) known.delete(organizationId)
}

export type Destinations = {
  /** Those that want an event. The webhooks of an organization are read once in 30 s. */
  of(addressed: Addressed, type: EventType): Promise<Destination[]>
}

/** For what belongs to an organization, and to no agent or tenant. */
export const addressedTo = (organizationId: string): Addressed => ({
  organizationId,
  agentId: null,
  tenantId: null,
  source: null,
  webhookUrl: null,
  parentExecutionId: null,
  isDraft: false,
})

/** Webhooks select the events of a batch like the executions of its lines. */
export const addressedOfBatch = (batch: Batch): Addressed => ({
  ...batch,
  source: batch.trial ? 'TRIAL' : 'BATCH',
  parentExecutionId: null,
})

/** Webhooks select the warning of a limit by its tenant or its agent. */
export const addressedOfLimit = ({
  organizationId,
  subject,
}: Pick<LimitWarning, 'organizationId' | 'subject'>): Addressed => ({
  ...addressedTo(organizationId),
  ...ownerOf(subject),
})

/** Webhooks select the end of a rollout by its agent. */
export const addressedOfRollout = ({
  organizationId,
  agentId,
}: Pick<AbortedEvent, 'organizationId' | 'agentId'>): Addressed => ({
  ...addressedTo(organizationId),
  agentId,
})

/** @throws Unavailable if the webhooks of an organization cannot be read */
export function openDestinations(
  webhooks: Pick<WebhookStore, 'list'>,
  { environment = process.env, cachedMs = CACHED_MS }: { environment?: Environment; cachedMs?: number } = {},
): Destinations {
  const known: Cache = new LRUCache({
    max: MAX_ORGANIZATIONS,
    ttl: cachedMs,
    // Otherwise an organization that is forgotten while it is read has no webhooks for those that wait for it.
    ignoreFetchAbort: true,
    fetchMethod: (organizationId) => webhooks.list({ organizationId }),
  })
  caches.push(known)
  return {
    async of(addressed, type) {
      const always = [
        ...(isTraced(addressed, type, environment) ? [TRACES] : []),
        // Runs that can be called back may be those of a remote agent.
        ...(type === 'execution.cancelled' && addressed.callbackSecret ? [REMOTE_AGENT] : []),
        ...(hasScores(addressed, type) ? [SCORES] : []),
      ].map((id) => ({ id, webhook: null, url: null }))
      if (!isReported(addressed, type)) return always
      const { organizationId, webhookUrl: url } = addressed
      const all = (await known.fetch(organizationId)) ?? []
      return [
        ...all
          .filter((webhook) => selects(webhook, addressed, type))
          .map((webhook) => ({ id: webhook.id, webhook, url: webhook.url })),
        ...(url ? [{ id: DEFAULT_WEBHOOK, webhook: null, url }] : []),
        ...(readSetting('eventBus', environment) ? [{ id: EVENT_BUS, webhook: null, url: null }] : []),
        ...always,
      ]
    },
  }
}

/** Ends of executions. */
const ENDS: EventType[] = ['execution.succeeded', 'execution.failed', 'execution.cancelled', 'score.low']

/** All runs that are sampled, also those of drafts, of trials and of agents: not those that reuse a result. */
function isTraced(
  { id, traceparent = null, cached }: Addressed,
  type: EventType,
  environment: Environment,
): boolean {
  if (!readSetting('otlpEndpoint', environment) || !ENDS.includes(type)) return false
  const percent = readSetting('otlpSamplePercent', environment)
  return id !== undefined && !cached && isTraceSampled({ id, traceparent }, percent)
}

/** The end of a run whose scorers have to be started, or of one of these. */
const hasScores = (addressed: Addressed, type: EventType): boolean =>
  ENDS.includes(type) && (addressed.scores?.length ? type === ENDS[0] : scoredBy(addressed) !== undefined)

/**
 * Events are those of runs and batches that a client has started on a published version, without trials. Runs of
 * scorers have none of their own.
 */
const isReported = ({ parentExecutionId, isDraft, source }: Addressed, type: EventType): boolean =>
  type === 'score.low' || (parentExecutionId === null && !isDraft && source !== 'TRIAL')
