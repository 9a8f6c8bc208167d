import { readNamed } from '../../access/executions.ts'
import { assertScope, idempotencyKeyOf } from '../../access/permissions.ts'
import { resolveVersionOf } from '../../agents/resolve-version.ts'
import type { Access } from '../../core/access.ts'
import type { Version } from '../../core/agent.ts'
import type { Violation } from '../../core/errors.ts'
import { type Execution, isFinal } from '../../core/execution.ts'
import { hashJson } from '../../core/json/hash-json.ts'
import { InputSchemaMismatch } from '../../core/request-errors.ts'
import { ExecutionInProgress } from '../../core/resource-errors.ts'
import { toTraceparent } from '../../core/traceparent.ts'
import { LIVE, type Replay, type ReplaySettings } from '../../core/trial.ts'
import { defaultModelOf, examplesOf, toOverrides } from '../batches/trial-line.ts'
import { type SubmitEngine, submitAsync } from '../submit/accept.ts'
import { buildRunRequest, resolveTarget } from '../submit/run-request.ts'
import { checkToolNames } from './start-trial.ts'

type Fields = ReplaySettings & { versionId: string; fromStep: number }

/** What a client chooses; without anything, the rerun is a run like any other. */
export type RerunOptions = { [Name in keyof Fields]?: Fields[Name] | undefined }

type Rerun = {
  access: Access
  executionId: string
  options: RerunOptions
  /** As the client sent it. */
  idempotencyKey: string | undefined
  traceparent?: string | undefined
}

/**
 * Starts an execution with the input, the tenant and the options of another one, on the current version. What is
 * recorded is taken from the other one, which has to be final then. No result is reused, nor is this one.
 * @throws Forbidden, ExecutionNotFound, ExecutionInProgress, VersionNotFound, AgentArchived, VersionRetired,
 * InputSchemaMismatch, InvalidModelOverride, TooManyRequests, LimitExceeded, IdempotencyKeyReused
 */
export async function rerunExecution(
  engine: SubmitEngine,
  { access, executionId, options, idempotencyKey, traceparent }: Rerun,
): Promise<Execution> {
  const { agents, executions, system } = engine
  assertScope(access, 'read')
  if (Object.keys(options).length > 0) assertScope(access, 'manage')
  const original = await readNamed(executions, { access, executionId })
  const made = await resolveVersionOf(agents, original)
  const key = idempotencyKeyOf(access, idempotencyKey)
  const { version, overrides, refusal, selectedBy, newId } = await resolveTarget({
    agents,
    system,
    access,
    key,
    idOrSlug: original.agentId,
    overrides: {
      tenantId: original.tenantId ?? undefined,
      version: options.versionId,
      useCache: false,
    },
  })
  if (refusal && key === undefined) throw refusal
  const replay = toReplay(original, made, options)
  if (replay.isTrial && !isFinal(original)) throw new ExecutionInProgress(original.id)
  const violations = [...checkToolNames(version, replay), ...checkFromStep(original, made, replay)]
  if (violations.length > 0) throw new InputSchemaMismatch(violations)
  const request = await buildRunRequest(version, original.input, {
    ...toOverrides(original, made, version),
    ...overrides,
  })
  return submitAsync(engine, {
    ...request,
    tokenId: access.tokenId || null,
    traceparent: toTraceparent(traceparent),
    replay,
    ...(replay.isTrial && { learnedFrom: examplesOf(original) }),
    refusal,
    selectedBy,
    newId,
    idempotency:
      key === undefined
        ? null
        : // Not one of a run of the agent with the same key.
          { key: `reruns/${original.id}\n${key}`, requestHash: hashJson(options) },
  })
}

/** Of model agents: how many steps a code agent has is not in its record. */
function checkFromStep(
  { steps, cached }: Execution,
  made: Version | null,
  { fromStep }: Pick<Replay, 'fromStep'>,
): Violation[] {
  if (cached || !made || made.code || fromStep <= steps + 1) return []
  const message = `/fromStep must be from 1 to ${steps + 1}: the execution has ${steps} steps.`
  return [{ path: '/fromStep', message }]
}

/** What the client does not name is live, as in any other run. */
function toReplay(original: Execution, made: Version | null, options: RerunOptions): Replay {
  const { tools = {}, models, steps, ignore = [], fromStep = 1 } = options
  const isTrial = fromStep > 1 || [...Object.values(tools), models, steps].includes('recorded')
  return {
    ...LIVE,
    executionId: original.id,
    tools: { ...LIVE.tools, ...tools },
    ...(models && { models }),
    ...(steps && { steps }),
    ignore,
    fromStep,
    isTrial,
    defaultModel: isTrial ? defaultModelOf(original, made) : null,
  }
}
