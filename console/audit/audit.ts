import type { AuditRecord } from '../../lib/contract/records/audit.ts'
import { isUuid } from '../../lib/core/ids.ts'
import { isJsonObject } from '../../lib/core/json/json.ts'
import { MAX_FILTER } from '../../lib/core/limits.ts'
import { useAgents } from '../api/agents.ts'
import { firstOf, hrefOf, type Suggestion, TIME_FILTER, type Values } from '../components/filters.ts'
import { shortId } from '../components/format.ts'
import { toApiRange } from '../components/range.ts'
import { type Query, toHref, toPath } from '../state/location.ts'
import { useMe, useScope } from '../state/session.ts'

export type Entry = AuditRecord
export type Action = Entry['action']

/** What somebody wanted: it may have failed. */
export const ACTION_LABELS: Record<Action, string> = {
  'agent.publish': 'Publish agent',
  'agent.archive': 'Archive agent',
  'agent.restore': 'Restore agent',
  'version.promote': 'Promote version',
  'version.retire': 'Retire version',
  'version.unretire': 'Make version usable again',
  'version.delete': 'Delete draft',
  'rollout.put': 'Start or change rollout',
  'rollout.end': 'End rollout',
  'execution.cancel': 'Cancel run',
  'execution.delete': 'Delete run',
  'execution.review': 'Review run',
  'batch.cancel': 'Cancel batch',
  'batch.delete': 'Delete batch',
  'trial.start': 'Start trial',
  'trial.cancel': 'Cancel trial',
  'trial.delete': 'Delete trial',
  'approval.decide': 'Decide on approval',
  'limits.put': 'Set limits',
  'limits.delete': 'Delete limits',
  'schedule.put': 'Set schedule',
  'schedule.delete': 'Delete schedule',
  'schedule.run': 'Run schedule now',
  'webhook.create': 'Create webhook',
  'webhook.update': 'Change webhook',
  'webhook.delete': 'Delete webhook',
  'webhook.rotate': 'Rotate secret of webhook',
  'webhook.test': 'Send test event',
  'webhook.redeliver': 'Send event again',
  'token.create': 'Create token',
  'token.revoke': 'Revoke token',
  'organization.create': 'Create organization',
}

/** A newer service may have others. */
export const labelOf = (action: string): string =>
  Object.hasOwn(ACTION_LABELS, action) ? ACTION_LABELS[action as Action] : action

export const KIND_LABELS: Record<Entry['target']['kind'], string> = {
  ...{ agent: 'Agent', version: 'Version', execution: 'Run', batch: 'Batch', trial: 'Trial' },
  ...{ approval: 'Approval', tenant: 'Tenant', schedule: 'Schedule', webhook: 'Webhook', token: 'Token' },
  organization: 'Organization',
}

/** Agents have the changes of their versions and schedules: they are suggested, too. */
function useTargets(entries: Entry[]): Suggestion[] {
  const mayRead = useScope('read')
  const agents = useAgents()
  const named = mayRead ? [...(agents?.values() ?? [])] : []
  const listed = entries.flatMap(({ target }): Suggestion[] =>
    target.id === null ? [] : [[target.id, target.kind]],
  )
  return firstOf([...listed, ...named.map(({ id, title }): Suggestion => [id, title])])
}

function useActors(entries: Entry[]): Suggestion[] {
  const me = useMe()
  const listed = entries.map(({ actor }): Suggestion => [actor.subject ?? actor.id, nameOf(actor)])
  return firstOf(me ? [[me.tokenId, 'This token'], ...listed] : listed)
}

export const FILTERS = {
  action: { label: 'Action', choices: ACTION_LABELS },
  actor: {
    ...{ label: 'By', placeholder: 'ID or subject', maxLength: MAX_FILTER.actor },
    useSuggestions: useActors,
  },
  target: {
    ...{ label: 'What', placeholder: 'ID', maxLength: MAX_FILTER.target },
    useSuggestions: useTargets,
  },
  ...TIME_FILTER,
}

/** Kept in the URL; empty texts filter nothing. */
export type Filters = Values<keyof typeof FILTERS>

/** As the query of the API. @param now milliseconds since the epoch, where a period ends */
export const toApiQuery = ({ action, actor, target, ...range }: Filters, now: number): Query => ({
  ...{ action, actor, target },
  ...toApiRange(range, now),
})

export const auditHref = (filters: Partial<Filters>): string => hrefOf('/audit', FILTERS, filters as Values)

/** What was deleted has no page any more. Limits belong to what is still there. */
const isGone = ({ action, result }: Entry): boolean =>
  action.endsWith('.delete') && action !== 'limits.delete' && result === 'SUCCEEDED'

/** The page of what was changed; null without one. */
export function targetHref(entry: Entry): string | null {
  const { kind, id, agentId, executionId } = entry.target
  if (id === null || isGone(entry)) return null
  switch (kind) {
    case 'agent':
      return toHref(toPath('agents', id))
    case 'version':
    case 'schedule':
      return agentId === undefined ? null : toHref(toPath('agents', agentId, `${kind}s`, id))
    case 'execution':
      return toHref(toPath('runs', id))
    case 'approval':
      return executionId === undefined ? null : toHref('/approvals', { item: `${executionId}.${id}` })
    case 'batch':
      return toHref(toPath('batches', id))
    case 'trial':
    case 'tenant':
    case 'webhook':
      return toHref(toPath(`${kind}s`, id))
    case 'token':
      return toHref('/tokens')
    default:
      return null
  }
}

const APPROVAL_ID = /^[0-9a-f]{32}$/

/** IDs that the service makes, by their ends; other texts as they are. */
export const shorten = (text: string): string =>
  isUuid(text) || APPROVAL_ID.test(text) ? shortId(text) : text

type Actor = Entry['actor']

/** How people call an actor. Of an ARN, what is behind the account: `assumed-role/Admin/ada`. */
export const nameOf = ({ name, subject, id }: Actor): string =>
  name ?? subject ?? /^arn:[^:]*:[^:]*:[^:]*:[^:]*:(.+)$/.exec(id)?.[1] ?? shorten(id)

export const ACTOR_LABELS: Record<Actor['kind'], string> = {
  token: 'API token',
  subject: 'Identity provider',
  cli: 'Command line',
}

export const INTERFACE_LABELS: Record<Entry['source']['interface'], string> = {
  HTTP: 'HTTP API',
  MCP: 'MCP',
  CLI: 'Command line',
}

/** One value of a change. `from`: undefined if the change did not read what there was. */
export type Change = { name: string; from: string | undefined; to: string }

export const changesOf = ({ changes }: Entry): Change[] =>
  Object.entries(changes).map(([name, change]) =>
    isJsonObject(change)
      ? { name, from: toText(change.from), to: toText(change.to) }
      : { name, from: undefined, to: toText(change) },
  )

function toText(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(toText).join(', ')
  if (value === null) return 'not set'
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value)
}

/** Errors after which a part of the change may have been made. */
export const isUncertain = ({ error }: Entry): boolean => error === 'InternalError' || error === 'Unavailable'
