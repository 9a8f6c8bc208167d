import type { CallToolResult } from '@modelcontextprotocol/server'
import * as z from 'zod/mini'
import { idempotencyKeyOf, mayUseAgent, resolveTenant } from '../access/permissions.ts'
import { runHeaders, runParameters } from '../api/parameters.ts'
import type { Access } from '../core/access.ts'
import {
  AgentNotFound,
  Forbidden,
  InputSchemaMismatch,
  VersionNotFound,
  VersionRetired,
} from '../core/errors.ts'
import type { Execution } from '../core/execution.ts'
import { isJsonObject, type Json } from '../core/json.ts'
import type { Step } from '../core/step.ts'
import { cancelExecution } from '../engine/executions/change-execution.ts'
import { buildRunRequest, type RunRequest, resolveVersionToRun } from '../engine/submit/run-request.ts'
import { type SubmitEngine, startSync } from '../engine/submit/submit.ts'
import {
  describeViolations,
  InvalidParams,
  type ToolCall,
  toRunResult,
  toToolError,
  UnknownTool,
} from './tool-call.ts'

const { tenantId, version } = runParameters.shape

/** What `_meta` of a call of an agent may contain besides the keys of the protocol, with the rules of the HTTP parameters. */
const callMeta = z.object({
  tenantId,
  version,
  idempotencyKey: runHeaders.shape['Idempotency-Key'],
  useCache: z.optional(z.boolean({ error: 'must be true or false' })),
})

type CallMeta = z.output<typeof callMeta>

/**
 * Runs the agent with the name of the tool until it is final, or until the deadline of the engine, after which the run
 * continues.
 * @throws InvalidParams for an unknown tool or version, and for invalid `_meta`
 */
export async function callAgent(engine: SubmitEngine, call: ToolCall): Promise<CallToolResult> {
  const { version: versionId, useCache, ...meta } = parseCallMeta(call.meta)
  const tenantId = tenantOf(call.access, meta.tenantId)
  const idempotencyKey = idempotencyKeyOf(call.access, meta.idempotencyKey)
  const { version, refusal } = await findVersion(engine, call, { versionId, idempotencyKey })
  try {
    const overrides = { tenantId, useCache, enforceInputSchema: true }
    const request = { ...(await buildRunRequest(version, call.input, overrides, idempotencyKey)), refusal }
    return toRunResult(await runForCall(engine, call, request))
  } catch (error) {
    if (error instanceof InputSchemaMismatch)
      return toToolError(
        `The arguments do not match the input schema.\n${describeViolations(error.errors ?? [])}`,
      )
    throw error
  }
}

/** @throws InvalidParams that names the keys */
function parseCallMeta(meta: Json | undefined): CallMeta {
  const { data, error } = callMeta.safeParse(isJsonObject(meta) ? meta : {})
  if (!error) return data
  throw new InvalidParams(
    error.issues.map(({ path, message }) => `_meta.${path[0]?.toString()} ${message}.`).join(' '),
  )
}

async function findVersion(
  { agents }: SubmitEngine,
  { access, name }: ToolCall,
  named: { versionId: CallMeta['version']; idempotencyKey: string | undefined },
): ReturnType<typeof resolveVersionToRun> {
  if (!mayUseAgent(access, name)) throw new UnknownTool(name)
  try {
    return await resolveVersionToRun({ agents, access, idOrSlug: name, ...named })
  } catch (error) {
    if (error instanceof Forbidden || error instanceof VersionRetired)
      throw new InvalidParams(`_meta.version: ${error.message}`)
    if (error instanceof AgentNotFound) throw new UnknownTool(name)
    if (!(error instanceof VersionNotFound)) throw error
    throw named.versionId === undefined
      ? new UnknownTool(name)
      : new InvalidParams('_meta.version is not a version of this agent.')
  }
}

/** @throws InvalidParams for another tenant than that of the token */
function tenantOf(access: Access, tenantId: CallMeta['tenantId']): CallMeta['tenantId'] {
  try {
    return resolveTenant(access, tenantId)
  } catch (error) {
    throw error instanceof Forbidden ? new InvalidParams(`_meta.tenantId: ${error.message}`) : error
  }
}

/** Reports the steps of the run as progress, and cancels it when the call is cancelled. */
async function runForCall(
  engine: SubmitEngine,
  { access, onProgress, cancelled }: ToolCall,
  request: RunRequest,
): Promise<Execution> {
  const onStep: SubmitEngine['onStep'] = ({ parentExecutionId }, step) => {
    if (parentExecutionId === null) onProgress?.(step.number, describeStep(step))
  }
  const { execution, isNew, ended } = await startSync({ ...engine, onStep }, request)
  // The run of an earlier call with the same idempotency key is not this call's to cancel.
  if (!isNew) return ended
  const cancel = () =>
    void cancelExecution(engine, { access, executionId: execution.id }).catch(() => undefined)
  if (cancelled.aborted) cancel()
  cancelled.addEventListener('abort', cancel)
  return ended.finally(() => cancelled.removeEventListener('abort', cancel))
}

/** Names only: progress is shown to people, and may be logged by clients. */
function describeStep(step: Step): string {
  if (step.kind === 'CODE') return step.name
  const names = step.calls.map(({ name }) => name)
  return names.length > 0 ? `Calls ${names.join(', ')}` : 'Responds'
}
