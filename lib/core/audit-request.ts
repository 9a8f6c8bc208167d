import type { Access } from './access.ts'
import {
  type Actor,
  AUDITED,
  type AuditAction,
  type AuditChange,
  type AuditChanges,
  type AuditTarget,
  type Scalar,
} from './audit.ts'
import { agentIdFrom, isUuid } from './ids.ts'
import { isJsonObject } from './json/json.ts'

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
/** The longest JSON of the changes of an entry. */
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

/** The members that entries of the action show. They need not be valid. */
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
