import { assertMayRunDraft, idempotencyKeyOf, mayUseAgent, resolveTenant } from '../../access/permissions.ts'
import { type ResolvedVersion, refusalOf, resolveVersion } from '../../agents/resolve-version.ts'
import type { Access } from '../../core/access.ts'
import { isStrict, stepLimitsOf, type Version } from '../../core/agent.ts'
import { toBudget } from '../../core/budget.ts'
import type { ServiceError } from '../../core/errors.ts'
import type { BatchLine, Execution, InputAdaptation } from '../../core/execution.ts'
import { type CacheIdentity, cacheKeyOf, hashJson } from '../../core/json/hash-json.ts'
import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts'
import type { AgentStore } from '../../core/ports/agents.ts'
import type { WebhookStore } from '../../core/ports/notifications.ts'
import type { System } from '../../core/ports/system.ts'
import { AgentNotFound } from '../../core/resource-errors.ts'
import { type RunOptions, toOptions } from '../../core/run-options.ts'
import type { ScheduledRun } from '../../core/schedule.ts'
import type { ScoredRun } from '../../core/score.ts'
import { toTraceparent } from '../../core/traceparent.ts'
import type { Replay } from '../../core/trial.ts'
import { openBody } from '../../schema/adapt/adapt-input.ts'
import { assertObject } from '../../schema/message-text.ts'
import { adapterOf } from '../compiled-adapter.ts'
import {
  checkInput,
  checkInputFiles,
  checkOverrides,
  checkWebhookUrl,
  type RunOverrides,
} from './check-request.ts'

/** A validated request to run a version. */
export type RunRequest = {
  version: Version
  /** Why it is this version. `CURRENT` by default. */
  selectedBy?: ResolvedVersion['selectedBy'] | undefined
  /** The id by which its version was chosen: that of the execution, unless its idempotency key is bound to another. */
  newId?: string | undefined
  input: JsonObject
  inputAdaptations?: InputAdaptation[]
  /** What the version makes of the input, for a run in this process. It is not stored. */
  adaptedInput?: JsonObject
  tenantId: string | null
  /** Of the token that asks for it; null by default. */
  tokenId?: string | null
  options: RunOptions
  /** Receives its events; null by default. */
  webhookUrl?: string | null
  /** The `traceparent` of the request; null by default. */
  traceparent?: string | null
  cache?: Execution['cache']
  /** The id of the execution, if it derives from what starts it: then it is recorded once. */
  executionId?: string
  batch?: BatchLine | null
  schedule?: ScheduledRun | null
  /** The execution that it repeats, and how; null by default. */
  replay?: Replay | null
  /** The execution that it scores; null by default. */
  scored?: ScoredRun | null
  /** The examples of a replay: those of its original. By default, the run chooses them. */
  learnedFrom?: string[] | null
  /** See `Execution`. */
  watchedUntil?: number | null
  idempotency?: Idempotency | null
  /** Why no new run is accepted: the request can only repeat an earlier one with the same idempotency key. */
  refusal?: ServiceError | null
}

/** A client's idempotency key, and the hash of everything that must be equal when the key is used again. */
export type Idempotency = { key: string; requestHash: string }

type Target = {
  agents: AgentStore
  system: Pick<System, 'newId'>
  /** Needed for a `webhookUrl`. */
  webhooks?: Pick<WebhookStore, 'hasDefaultSecret'>
  access: Access
  idOrSlug: string
  overrides: RunOverrides & { version?: string | undefined }
  /** That of the tenant: during a rollout, it decides about the version, and so do its repetitions. */
  key?: string | undefined
}

type Call = Target & {
  body: Json
  /** As the client sent it: one that is malformed is ignored. */
  traceparent?: unknown
  /** As the client sent it. */
  idempotencyKey: string | undefined
}

/**
 * The run that a client asks for. An archived agent or a retired version is an error, unless the request has an
 * idempotency key and can be the repetition of an accepted one.
 * @throws AgentArchived, VersionRetired, and what `resolveTarget` and `buildRunRequest` throw
 */
export async function prepareRun({
  body,
  idempotencyKey,
  traceparent,
  ...target
}: Call): Promise<RunRequest> {
  const { access } = target
  const key = idempotencyKeyOf(access, idempotencyKey)
  const { version, overrides, refusal, selectedBy, newId } = await resolveTarget({ ...target, key })
  if (refusal && key === undefined) throw refusal
  const request = await buildRunRequest(version, body, overrides, key)
  const { webhookUrl = null } = overrides
  const started = { tokenId: access.tokenId || null, traceparent: toTraceparent(traceparent), webhookUrl }
  return { ...request, ...started, refusal, selectedBy, newId }
}

/**
 * The version that a client may run, and for which tenant. A draft is for those who may change the agent. `refusal`:
 * why it accepts no new runs. `newId`: for what the request starts; without a `key`, it decides about the version
 * during a rollout.
 * @throws AgentNotFound, VersionNotFound, Forbidden, InvalidQueryParameter for a `webhookUrl` that is not accepted
 */
export async function resolveTarget<Overrides extends Target['overrides']>({
  agents,
  system,
  webhooks,
  access,
  idOrSlug,
  key,
  ...call
}: Target & { overrides: Overrides }) {
  if (!mayUseAgent(access, idOrSlug)) throw new AgentNotFound()
  const overrides = { ...call.overrides, tenantId: resolveTenant(access, call.overrides.tenantId) }
  const { organizationId } = access
  const newId = system.newId()
  const resolved = await resolveVersion({
    store: agents,
    organizationId,
    idOrSlug,
    versionId: overrides.version,
    run: { tenantId: overrides.tenantId ?? null, executionId: key ?? newId },
  })
  const { version, selectedBy } = resolved
  if (version.status === 'DRAFT') assertMayRunDraft(access)
  const { webhookUrl } = overrides
  if (webhookUrl !== undefined) await checkWebhookUrl(webhooks, organizationId, webhookUrl)
  return { version, overrides, refusal: refusalOf(resolved), selectedBy, newId }
}

/**
 * Combines a call's overrides with the version's settings, before anything is recorded.
 * @param body the input; unless in strict mode, also a list or a text that contains it
 * @throws InvalidJson if the body contains no input, InputSchemaMismatch in strict mode and for files that are not
 * valid, InvalidModelOverride for a model that the version does not allow, that is unusable or that does not accept the
 * files, InvalidQueryParameter for too many steps and for a budget that cannot be enforced
 */
export async function buildRunRequest(
  version: Version,
  body: Json,
  overrides: RunOverrides,
  idempotencyKey?: string,
): Promise<RunRequest> {
  const budget = toBudget(version.execution, overrides)
  await checkOverrides(version, overrides, budget)
  const strict = isStrict(version, overrides)
  const opened = isJsonObject(body) || strict ? null : openBody(version.inputSchema, body)
  const input = opened?.input ?? assertObject(body)
  if (strict) await checkInput(version, input)
  const { input: adaptedInput, adaptations } = adapterOf(version)(input)
  await checkInputFiles(version, adaptedInput, overrides.model)
  const tenantId = overrides.tenantId ?? null
  const options = {
    maxAgentSteps: overrides.maxAgentSteps ?? stepLimitsOf(version.execution).default,
    model: overrides.model ?? null,
    useDynamicLearning: overrides.useDynamicLearning ?? version.useDynamicLearning ?? false,
    ...toOptions(budget),
  }
  const useCache = overrides.useCache ?? version.execution.useCache
  return {
    version,
    input,
    inputAdaptations: opened ? [opened.adaptation, ...adaptations] : adaptations,
    adaptedInput,
    tenantId,
    options,
    cache: useCache ? cacheOf(version, { tenantId, input: adaptedInput, ...options }) : null,
    idempotency:
      idempotencyKey === undefined
        ? null
        : { key: idempotencyKey, requestHash: hashJson([input, { ...overrides, execMode: null }]) },
  }
}

type Identity = Omit<CacheIdentity, 'agentId' | 'versionId'>

function cacheOf({ agentId, id: versionId, execution }: Version, identity: Identity): Execution['cache'] {
  const key = cacheKeyOf({ agentId, versionId, ...identity })
  return key === null ? null : { key, ttlSeconds: execution.cacheTtlSeconds }
}
