import type { Access } from './access.ts'
import { agentIdFrom, isUuid } from './ids.ts'
import { isJsonObject } from './json/json.ts'
import type { Page, PageRequest } from './ports/system.ts'

/**
 * The changes that are recorded, with the members of a request that an entry may show: by name, or as `member.inner`.
 * Never secrets, inputs, outputs, or texts about them. Of a URL, only the origin is shown.
 */
export const AUDITED = {
  'agent.publish': ['slug', 'draft', 'versionId', 'isNew', 'schedules'],
  'agent.archive': [],
  'agent.restore': [],
  'version.promote': ['trial', 'currentVersionId'],
  'version.retire': [],
  'version.unretire': [],
  'version.delete': [],
  'rollout.put': [
    'versionId',
    'percent',
    'key',
    'trial',
    'abort.maxErrorRate',
    'abort.maxCostIncrease',
    'abort.maxScoreDrop',
    'abort.minRuns',
  ],
  'rollout.end': [],
  'execution.cancel': [],
  'execution.delete': [],
  'execution.review': [],
  'batch.cancel': [],
  'batch.delete': [],
  'trial.start': ['versionId', 'tenantId', 'limit', 'models', 'steps', 'maxTrialCostUsd', 'maxConcurrency'],
  'trial.cancel': [],
  'trial.delete': [],
  'approval.decide': ['decision', 'isEdited'],
  'limits.put': [
    'maxOpenExecutions',
    'maxRunsPerMinute',
    'maxCostUsd.day',
    'maxCostUsd.month',
    'warnAt',
    'queueWhenFull',
  ],
  'limits.delete': [],
  'schedule.put': [
    'cron',
    'timezone',
    'tenantId',
    'version',
    'overlap',
    'catchUpSeconds',
    'enabled',
    'isNew',
  ],
  'schedule.delete': [],
  'schedule.run': ['executionId'],
  'webhook.create': ['url', 'types', 'agents', 'tenants', 'sources', 'allowedHosts', 'enabled'],
  'webhook.update': ['url', 'types', 'agents', 'tenants', 'sources', 'allowedHosts', 'enabled'],
  'webhook.delete': [],
  'webhook.rotate': [],
  'webhook.test': [],
  'webhook.redeliver': ['deliveryId'],
  'token.create': ['name', 'scopes', 'agents', 'tenantId', 'rate', 'expiresAt'],
  'token.revoke': ['afterSeconds', 'expiresAt', 'name'],
  'organization.create': ['name'],
} as const satisfies Record<string, readonly string[]>

/** Members that only the change knows. Whatever a request has under these names is not shown. */
const KNOWN_TO_CHANGE: Partial<Record<keyof typeof AUDITED, string[]>> = {
  'agent.publish': ['versionId', 'isNew', 'schedules'],
  'version.promote': ['currentVersionId'],
  'trial.start': ['versionId'],
  'approval.decide': ['isEdited'],
  'schedule.put': ['isNew'],
  'schedule.run': ['executionId'],
  'webhook.redeliver': ['deliveryId'],
  'token.revoke': ['expiresAt', 'name'],
}

/** What starts something, unless its idempotency key is that of an earlier request: that has the entry. */
export const STARTING: ReadonlySet<AuditAction> = new Set(['trial.start', 'schedule.run'])

export type AuditAction = keyof typeof AUDITED
export const AUDIT_ACTIONS = Object.keys(AUDITED) as AuditAction[]

export const ACTOR_KINDS = ['token', 'subject', 'cli'] as const
export const TARGET_KINDS = [
  'agent',
  'version',
  'execution',
  'batch',
  'trial',
  'approval',
  'tenant',
  'schedule',
  'webhook',
  'token',
  'organization',
] as const
/** `STARTED`: the change is in progress, or nobody could store what became of it. */
export const AUDIT_RESULTS = ['STARTED', 'SUCCEEDED', 'FAILED'] as const
export const AUDIT_INTERFACES = ['HTTP', 'MCP', 'CLI'] as const

/**
 * Who makes a change. `id`: of the token; for a subject of the identity provider, the UUIDv5 of issuer and subject; on
 * the command line, the ARN of the AWS caller, or the user and the host.
 */
export type Actor = { kind: (typeof ACTOR_KINDS)[number]; id: string; name?: string; subject?: string }

/** From where. `ip`: as API Gateway, or the socket, knows it. `host`: of a command. */
export type AuditSource = {
  interface: (typeof AUDIT_INTERFACES)[number]
  ip?: string
  userAgent?: string
  host?: string
}

/**
 * What is changed. `id` null: it did not exist. `agentId`: of versions, schedules and trials that start. `executionId`:
 * of approvals.
 */
export type AuditTarget = {
  kind: (typeof TARGET_KINDS)[number]
  id: string | null
  agentId?: string
  executionId?: string
}

type Scalar = string | number | boolean | null
/** `from`: only where the change reads it anyway. */
export type AuditChange = Scalar | Scalar[] | { from: Scalar; to: Scalar }
export type AuditChanges = Record<string, AuditChange>

/** What is known of a change before it. */
export type StartedChange = {
  organizationId: string
  actor: Actor
  source: AuditSource
  action: AuditAction
  target: AuditTarget
  changes: AuditChanges
}

export type AuditEntry = StartedChange & {
  /** UUIDv7 */
  id: string
  /** ISO 8601 */
  at: string
  result: (typeof AUDIT_RESULTS)[number]
  /** The code of the error of a change that failed. */
  error?: string
}

/** Selects entries. `actor`: its id or subject. `target`: its id, or that of its agent or execution. */
export type AuditFilter = {
  action?: AuditAction | undefined
  actor?: string | undefined
  target?: string | undefined
}

/** What was changed, by whom. Nothing removes entries before they expire. */
export interface AuditStore {
  /** Keeps an entry. `isMarked`: the outbox tells the event bus of it. False if one with its id is kept. */
  begin(params: { entry: AuditEntry; isMarked: boolean }): Promise<boolean>
  /** Stores the result, the target and the changes of an entry that has no result. False if it has one. */
  end(params: { entry: AuditEntry }): Promise<boolean>
  get(params: { organizationId: string; id: string }): Promise<AuditEntry | null>
  /** Newest first. `from`, `before`: milliseconds since the epoch. */
  list(
    params: { organizationId: string; from?: number | undefined; before?: number | undefined } & AuditFilter &
      PageRequest,
  ): Promise<Page<AuditEntry>>
}

/** Who sends a request. */
export function actorOf({ tokenId: id, tokenName, subject }: Access): Actor {
  const name = tokenName === undefined ? {} : { name: toShown(tokenName) }
  return subject === undefined
    ? { kind: 'token', id, ...name }
    : { kind: 'subject', id, ...name, subject: toShown(subject, MAX_SUBJECT_CHARACTERS) }
}

export const MAX_USER_AGENT_CHARACTERS = 200
const MAX_SUBJECT_CHARACTERS = 500
const MAX_CHARACTERS = 128
const MAX_ITEMS = 50
/** Of the JSON of the changes of an entry. */
const MAX_CHANGES_CHARACTERS = 4_000

/** Names that clients and people choose, on one line: control and bidirectional characters could disguise them. */
const DISGUISES = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]+/gu
/** API tokens, secrets of webhooks, and JSON Web Tokens, wherever somebody has put one. */
const SECRETS = /(?:aes_|whsec_|eyJ)[\w+/=.-]{8,}/g

/** A text as entries show it. */
export function toShown(text: string, maxCharacters = MAX_CHARACTERS): string {
  const shown = text
    // Only what is shown is looked at: a request can have 6 MB.
    .slice(0, 4 * maxCharacters)
    .toWellFormed()
    .replace(DISGUISES, ' ')
    .replace(SECRETS, '[secret]')
  return shown.length > maxCharacters ? `${shown.slice(0, maxCharacters - 1).toWellFormed()}…` : shown
}

/** Of these members, those that entries of the action show. They need not be valid. */
export function toChanges(action: AuditAction, given: Record<string, unknown>): AuditChanges {
  const changes: AuditChanges = {}
  let characters = 0
  for (const name of AUDITED[action]) {
    const [member = '', inner] = name.split('.')
    const value = memberOf(inner === undefined ? given : memberOf(given, member), inner ?? member)
    const change = name === 'url' ? originOf(value) : toChange(value)
    if (change === undefined) continue
    characters += JSON.stringify(change).length
    changes[name] = characters > MAX_CHANGES_CHARACTERS ? '[too large]' : change
  }
  return changes
}

/** The members of a request that its entry may show. */
export const withoutResults = (
  action: AuditAction,
  given: Record<string, unknown>,
): Record<string, unknown> =>
  Object.fromEntries(Object.entries(given).filter(([name]) => !KNOWN_TO_CHANGE[action]?.includes(name)))

const memberOf = (value: unknown, name: string): unknown =>
  isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined

function toChange(value: unknown): AuditChange | undefined {
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).flatMap((item) => toScalar(item) ?? [])
  if (isJsonObject(value) && 'from' in value && 'to' in value)
    return { from: toScalar(value.from) ?? null, to: toScalar(value.to) ?? null }
  return toScalar(value)
}

function toScalar(value: unknown): Scalar | undefined {
  if (typeof value === 'string') return toShown(value)
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  return typeof value === 'boolean' || value === null ? value : undefined
}

/** The path of a URL can be its secret, as well as its user and its query. */
function originOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || !URL.canParse(value)) return undefined
  const { protocol, host } = new URL(value)
  return toShown(`${protocol}//${host}`)
}

/** UUIDs in a path can have upper case letters. */
function toShownId(text: string): string
function toShownId(text: string | undefined): string | null
function toShownId(text: string | undefined): string | null {
  if (text === undefined) return null
  return isUuid(text) ? text.toLowerCase() : toShown(text)
}

type PathParameters = { readonly [name: string]: string | undefined }

/**
 * What a request changes, by the parameters of its path, which need not be valid. Agents are named by their ID.
 */
export function targetOf(
  action: AuditAction,
  organizationId: string,
  parameters: PathParameters,
): AuditTarget {
  const { agentId: agent, executionId } = parameters
  const idOf = (name: string) => toShownId(parameters[name])
  const agentId = agent === undefined ? null : (agentIdFrom(organizationId, agent) ?? toShown(agent))
  const inAgent = agentId === null ? {} : { agentId }
  const kind = action.split('.')[0]
  switch (kind) {
    case 'execution':
    case 'batch':
    case 'trial':
    case 'webhook':
    case 'token':
      return { kind, id: idOf(`${kind}Id`), ...inAgent }
    case 'version':
      return { kind: 'version', id: idOf('versionId'), ...inAgent }
    case 'approval':
      return {
        kind: 'approval',
        id: idOf('approvalId'),
        ...(executionId !== undefined && { executionId: toShownId(executionId) }),
      }
    case 'limits':
      // The ID of a tenant can be any text.
      return agentId === null
        ? { kind: 'tenant', id: toShown(parameters.tenantId ?? '') }
        : { kind: 'agent', id: agentId }
    case 'schedule':
      return { kind: 'schedule', id: idOf('scheduleName'), ...inAgent }
    case 'organization':
      return { kind: 'organization', id: organizationId }
    default:
      return { kind: 'agent', id: agentId }
  }
}
