import { assertAllAgents, visibilityOf } from '../../access/permissions.ts'
import type { Access } from '../../core/access.ts'
import { ServiceError, Unavailable } from '../../core/errors.ts'
import { agentIdFrom, isUuid } from '../../core/ids.ts'
import { TooManyWebhooks } from '../../core/limit-errors.ts'
import { MIN_RETENTION_DAYS, SECRET_OVERLAP_MS } from '../../core/limits.ts'
import {
  DEFAULT_WEBHOOK,
  EXECUTION_EVENT_TYPES,
  type Webhook,
  type WebhookSecret,
} from '../../core/notification.ts'
import type { AgentStore } from '../../core/ports/agents.ts'
import type { WebhookStore } from '../../core/ports/notifications.ts'
import type { OwnedId, System } from '../../core/ports/system.ts'
import { Forbidden, InputSchemaMismatch } from '../../core/request-errors.ts'
import { WebhookNotFound } from '../../core/resource-errors.ts'
import { findEndpointProblem } from '../../tools/egress/egress-policy.ts'
import { privateHosts } from '../../tools/egress/private-hosts.ts'
import { newSecret } from '../../tools/egress/sign-webhook.ts'
import { forgetWebhooks } from './destinations.ts'

export type WebhookStores = {
  webhooks: WebhookStore
  agents: Pick<AgentStore, 'get'>
  system: System
}

type Fields = Pick<Webhook, 'url' | 'types' | 'sources' | 'allowedHosts' | 'enabled'> & {
  /** Slugs or IDs. */
  agents: string[] | null
  tenants: string[] | null
}
/** Fields that are undefined do not change. */
export type WebhookChanges = { [Name in keyof Fields]?: Fields[Name] | undefined }

export type WebhookReference = { access: Access; webhookId: string }

/** The webhooks that a token may see, newest first: of one that is limited to agents, those that name only these. */
export async function listWebhooks({ webhooks }: WebhookStores, access: Access): Promise<Webhook[]> {
  const all = await webhooks.list(access)
  return all.filter((webhook) => maySee(access, webhook)).reverse()
}

function maySee(access: Access, webhook: Webhook): boolean {
  const { agentIds } = visibilityOf(access)
  return agentIds === null || (webhook.agentIds?.every((id) => agentIds.includes(id)) ?? false)
}

/** @throws WebhookNotFound, also for one that the token may not see */
export async function getWebhook(
  { webhooks }: Pick<WebhookStores, 'webhooks'>,
  { access, webhookId }: WebhookReference,
): Promise<Webhook> {
  const { organizationId } = access
  const webhook = isUuid(webhookId)
    ? await webhooks.get({ organizationId, id: webhookId.toLowerCase() })
    : null
  if (!webhook || !maySee(access, webhook)) throw new WebhookNotFound()
  return webhook
}

/**
 * @param options.retentionDays how long executions are kept; null for ever
 * @throws InputSchemaMismatch, TooManyWebhooks, ServiceError `BadRequest` if executions are not kept long enough,
 * Forbidden for a token that is limited to agents if the webhook names none
 */
export async function createWebhook(
  stores: WebhookStores,
  {
    access,
    body,
    retentionDays,
  }: { access: Access; body: WebhookChanges & { url: string }; retentionDays: number | null },
): Promise<{ webhook: Webhook; secret: string }> {
  if (retentionDays !== null && retentionDays < MIN_RETENTION_DAYS)
    throw new ServiceError(
      'BadRequest',
      `The service deletes executions after ${retentionDays} days, and deliveries are retried for three. Webhooks need the setting executionRetentionDays to be at least ${MIN_RETENTION_DAYS}, or unset.`,
    )
  const { webhooks, system } = stores
  const createdAt = new Date(system.now()).toISOString()
  const webhook: Webhook = {
    id: system.newId(),
    organizationId: access.organizationId,
    url: body.url,
    types: [...EXECUTION_EVENT_TYPES],
    agentIds: null,
    tenantIds: null,
    sources: null,
    allowedHosts: [],
    enabled: true,
    disabledReason: null,
    failingSince: null,
    createdAt,
    ...(await toChanges(stores, access, body)),
  }
  assertReachable(webhook)
  if (!maySee(access, webhook))
    throw new Forbidden('The token is limited to agents. Name some of them in agents.')
  const secret = newSecret()
  // Before the webhook can receive events.
  await webhooks.putSecrets({ ...webhook, secrets: [{ secret, createdAt, expiresAt: null }], replaces: null })
  if (await webhooks.create({ webhook })) {
    forgetWebhooks(webhook.organizationId)
    return { webhook, secret }
  }
  await webhooks.delete(webhook)
  throw new TooManyWebhooks()
}

/** @throws WebhookNotFound, InputSchemaMismatch, Forbidden */
export async function updateWebhook(
  stores: WebhookStores,
  { body, ...reference }: WebhookReference & { body: WebhookChanges },
): Promise<Webhook> {
  const { access } = reference
  const webhook = await getWebhook(stores, reference)
  const changes = await toChanges(stores, access, body)
  const changed = { ...webhook, ...changes }
  if (body.url !== undefined || body.allowedHosts !== undefined) assertReachable(changed)
  if (!maySee(access, changed))
    throw new Forbidden('The token is limited to agents. The webhook must name some of them in agents.')
  const updated = await stores.webhooks.update({ ...webhook, changes })
  if (!updated) throw new WebhookNotFound()
  forgetWebhooks(webhook.organizationId)
  return updated
}

/** @throws WebhookNotFound */
export async function deleteWebhook(stores: WebhookStores, reference: WebhookReference): Promise<void> {
  const webhook = await getWebhook(stores, reference)
  if (!(await stores.webhooks.delete(webhook))) throw new WebhookNotFound()
  forgetWebhooks(webhook.organizationId)
}

/** Each attempt that fails met another rotation. */
const MAX_ROTATIONS = 10

/**
 * Replaces a secret; the previous one stays valid for a day, earlier ones do not.
 * @throws WebhookNotFound, Forbidden for the default secret and a token that is limited to agents
 */
export async function rotateSecret(
  stores: WebhookStores,
  reference: WebhookReference,
): Promise<{ id: string; secret: string; previousSecretExpiresAt: string | null }> {
  const { webhooks, system } = stores
  const { organizationId } = reference.access
  const id = await resolveDestination(stores, reference)
  for (let i = 0; i < MAX_ROTATIONS; i++) {
    const [replaces = null] = await webhooks.getSecrets({ organizationId, id })
    const now = system.now()
    const expiresAt = new Date(now + SECRET_OVERLAP_MS).toISOString()
    const secret = newSecret()
    const secrets: WebhookSecret[] = [
      { secret, createdAt: new Date(now).toISOString(), expiresAt: null },
      ...(replaces ? [{ ...replaces, expiresAt }] : []),
    ]
    if (!(await webhooks.putSecrets({ organizationId, id, secrets, replaces }))) continue
    await assertNotDeleted(webhooks, { organizationId, id })
    return { id, secret, previousSecretExpiresAt: replaces && expiresAt }
  }
  throw new Unavailable(new Error('The secret was rotated by many requests at the same time.'))
}

/** A deletion at the same time may have left the new secret. @throws WebhookNotFound */
async function assertNotDeleted(webhooks: WebhookStore, key: OwnedId) {
  if (key.id === DEFAULT_WEBHOOK || (await webhooks.get(key))) return
  await webhooks.delete(key)
  throw new WebhookNotFound()
}

/**
 * The id of a webhook, or of the URLs that are given with runs, which belong to all agents.
 * @throws WebhookNotFound, Forbidden
 */
export async function resolveDestination(
  stores: Pick<WebhookStores, 'webhooks'>,
  reference: WebhookReference,
): Promise<string> {
  if (reference.webhookId !== DEFAULT_WEBHOOK) return (await getWebhook(stores, reference)).id
  assertAllAgents(reference.access)
  return DEFAULT_WEBHOOK
}

/** The fields of a webhook that a body sets. @throws InputSchemaMismatch */
async function toChanges(
  stores: WebhookStores,
  access: Access,
  { agents, tenants, types, enabled, ...others }: WebhookChanges,
): Promise<Partial<Webhook>> {
  const given = Object.entries(others).filter(([, value]) => value !== undefined)
  return {
    ...(Object.fromEntries(given) as Partial<Pick<Webhook, 'url' | 'sources' | 'allowedHosts'>>),
    ...(types && { types: [...new Set(types)] }),
    ...(tenants !== undefined && { tenantIds: tenants && [...new Set(tenants)] }),
    ...(agents !== undefined && { agentIds: agents && (await findAgentIds(stores, access, agents)) }),
    ...(enabled !== undefined && { enabled, disabledReason: null }),
    // Another receiver has not failed yet.
    ...((enabled || others.url !== undefined) && { failingSince: null }),
  }
}

/** An agent that the token may not use looks like one that does not exist. @throws InputSchemaMismatch */
async function findAgentIds({ agents }: WebhookStores, access: Access, names: string[]): Promise<string[]> {
  const { organizationId, agentIds } = visibilityOf(access)
  const found = await Promise.all(
    names.map(async (name) => {
      const id = agentIdFrom(organizationId, name)
      const isUsable = id !== undefined && (agentIds?.includes(id) ?? true)
      return isUsable && (await agents.get({ organizationId, id })) ? id : null
    }),
  )
  const violations = found.flatMap((id, index) => {
    const path = `/agents/${index}`
    return id === null
      ? [{ path, message: `${path} must be the slug or ID of an agent of your organization.` }]
      : []
  })
  if (violations.length > 0) throw new InputSchemaMismatch(violations)
  return [...new Set(found.filter((id) => id !== null))]
}

/** @throws InputSchemaMismatch for a URL that the egress policy denies */
function assertReachable({ organizationId, url, allowedHosts }: Webhook): void {
  const problem = findEndpointProblem(url, allowedHosts, privateHosts(organizationId))
  if (problem) throw new InputSchemaMismatch([{ path: '/url', message: `/url ${problem}.` }])
}
