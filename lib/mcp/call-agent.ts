import type { CallToolResult } from '@modelcontextprotocol/server'
import * as z from 'zod/mini'
import { resolveTenant } from '../access/permissions.ts'
import { idempotencyHeaders, runParameters } from '../contract/parameters/runs.ts'
import type { Access } from '../core/access.ts'
import { type Execution, isFinal } from '../core/execution.ts'
import { isJsonObject, type Json } from '../core/json/json.ts'
import { Forbidden, InputSchemaMismatch, InsufficientScope } from '../core/request-errors.ts'
import { AgentNotFound, VersionNotFound, VersionRetired } from '../core/resource-errors.ts'
import type { Step } from '../core/step.ts'
import { liveResponseOf } from '../engine/checkpoints/live-response.ts'
import type { SubmitEngine } from '../engine/submit/accept.ts'
import { prepareRun, type RunRequest } from '../engine/submit/run-request.ts'
import { startSync } from '../engine/submit/submit.ts'
import { cancelRecorded } from './execution-tools.ts'
import { toCreatedTask } from './task.ts'
import {
  InvalidParams,
  type McpEngine,
  type ToolCall,
  toArgumentsError,
  toRunResult,
  UnknownTool,
} from './tool-call.ts'

const { tenantId, version } = runParameters.shape

/** What `_meta` of a call may contain besides the keys of the protocol, with the rules of the HTTP parameters. */
const callMeta = z.object({
  tenantId,
  version,
  idempotencyKey: idempotencyHeaders.shape['Idempotency-Key'],
  useCache: z.optional(z.boolean({ error: 'must be true or false' })),
  traceparent: z.optional(z.unknown()),
})

type CallMeta = z.output<typeof callMeta>

/**
 * Runs the agent with the name of the tool until it is final, or until the deadline of the engine, after which the run
 * continues.
 * @throws InvalidParams for an unknown tool or version, and for invalid `_meta`
 */
export async function callAgent(engine: McpEngine, call: ToolCall): Promise<CallToolResult> {
  const { agents, system } = engine
  const { access, name, input } = call
  const { idempotencyKey, traceparent = call.traceparent, ...meta } = parseCallMeta(call.meta)
  const overrides = { ...meta, tenantId: tenantOf(access, meta.tenantId), enforceInputSchema: true }
  try {
    const reference = { agents, system, access, idOrSlug: name }
    const run = await prepareRun({ ...reference, body: input, overrides, idempotencyKey, traceparent })
    const execution = await runForCall(engine, call, run)
    return call.mayGetTask && !isFinal(execution) ? toCreatedTask(engine, execution) : toRunResult(execution)
  } catch (error) {
    if (error instanceof InputSchemaMismatch) return toArgumentsError(error.errors ?? [])
    throw toCallError(error, name, overrides.version)
  }
}

/** An error of the version, in the terms of a call. Other errors stay as they are. */
function toCallError(error: unknown, name: string, versionId: CallMeta['version']): unknown {
  if (error instanceof AgentNotFound) return new UnknownTool(name)
  const isRefused = error instanceof Forbidden || error instanceof InsufficientScope
  if (isRefused || error instanceof VersionRetired)
    return new InvalidParams(`_meta.version: ${error.message}`)
  if (!(error instanceof VersionNotFound)) return error
  return versionId === undefined
    ? new UnknownTool(name)
    : new InvalidParams('_meta.version is not a version of this agent.')
}

/** @throws InvalidParams that names the keys */
function parseCallMeta(meta: Json | undefined): CallMeta {
  const { data, error } = callMeta.safeParse(isJsonObject(meta) ? meta : {})
  if (!error) return data
  throw new InvalidParams(
    error.issues.map(({ path, message }) => `_meta.${path[0]?.toString()} ${message}.`).join(' '),
  )
}

/** @throws InvalidParams for another tenant than that of the token */
function tenantOf(access: Access, tenantId: CallMeta['tenantId']): CallMeta['tenantId'] {
  try {
    return resolveTenant(access, tenantId)
  } catch (error) {
    throw error instanceof Forbidden ? new InvalidParams(`_meta.tenantId: ${error.message}`) : error
  }
}

/** Between two notifications of a response that is being written. */
const WRITING_MS = 1_000

/**
 * Reports how much of the present response is written.
 * @param recorded the last step that was reported
 * @returns what ends that
 */
function reportWriting(
  executionId: string,
  recorded: () => number,
  onProgress: NonNullable<ToolCall['onProgress']>,
): () => void {
  let [step, count, last] = [0, 0, '']
  const report = () => {
    const live = liveResponseOf(executionId)
    const part = live?.parts.at(-1)
    if (!live || !part || live.step <= recorded()) return
    const message = `Writes ${part.call?.name ?? 'text'}: ${part.text.length} characters`
    if (message === last) return
    count = live.step === step ? count + 1 : 1
    step = live.step
    last = message
    // Less than the number of the step, and more each time.
    onProgress(step - 1 + count / (count + 1), message)
  }
  const timer = setInterval(report, WRITING_MS)
  return () => clearInterval(timer)
}

/** Reports the steps of the run as progress, and cancels it when the call is cancelled. */
async function runForCall(
  engine: McpEngine,
  { access, source, onProgress, cancelled }: ToolCall,
  request: RunRequest,
): Promise<Execution> {
  let recorded = 0
  const onStep: SubmitEngine['onStep'] = ({ parentExecutionId }, step) => {
    if (parentExecutionId !== null) return
    recorded = step.number
    onProgress?.(step.number, describeStep(step))
  }
  // Before the run is recorded: a client repeats a call that was refused.
  const { full, release } = await engine.openRequests.hold('run', access)
  const started = startSync({ ...engine, onStep }, request, full).catch((error: unknown) => {
    release()
    throw error
  })
  const { execution, isNew, ended } = await started
  // The run of an earlier call with the same idempotency key is not this call's to cancel.
  if (!isNew) return ended.finally(release)
  const stop = onProgress && reportWriting(execution.id, () => recorded, onProgress)
  const cancel = () => void cancelRecorded(engine, { access, source }, execution.id).catch(() => undefined)
  if (cancelled.aborted) cancel()
  cancelled.addEventListener('abort', cancel)
  return ended.finally(() => {
    cancelled.removeEventListener('abort', cancel)
    stop?.()
    release()
  })
}

/** Names only: progress is shown to people, and may be logged by clients. */
function describeStep(step: Step): string {
  if (step.kind !== 'MODEL') return step.name
  const names = step.calls.map(({ name }) => name)
  return names.length > 0 ? `Calls ${names.join(', ')}` : 'Responds'
}
