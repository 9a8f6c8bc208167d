import type { Version } from '../../lib/core/agent.ts'
import type { Execution, ExecutionError } from '../../lib/core/execution.ts'
import type { Json } from '../../lib/core/json/json.ts'
import type { InputFile, ModelResponse } from '../../lib/core/model.ts'
import {
  type ModelStep,
  type RecordedModelStep,
  type RecordedStep,
  responseUsageOf,
  type StepCall,
} from '../../lib/core/step.ts'
import type { Stores } from '../../lib/dynamodb/open-stores.ts'
import { adapterOf } from '../../lib/engine/compiled-adapter.ts'
import { outputValidatorOf } from '../../lib/engine/compiled-schemas.ts'
import { inputMessage } from '../../lib/engine/learning/prompt.ts'
import { isFinalAnswer } from '../../lib/engine/model-agent/history/final-answer.ts'
import { TOOLS_NEVER_CALLED } from '../../lib/engine/model-agent/history/find-failure.ts'
import { History } from '../../lib/engine/model-agent/history/history.ts'
import { takeFiles } from '../../lib/engine/model-agent/input-files.ts'
import { hash, hashMessages } from '../../lib/engine/request-key.ts'
import { storedDecision } from '../../lib/engine/waiting/approvals.ts'
import type { Environment } from '../../lib/environment.ts'
import { formatModelName, parseModelName } from '../../lib/models/model-name.ts'
import { openLater, openModel } from '../../lib/models/open-model.ts'
import { addDefaults } from '../../lib/tools/add-defaults.ts'
import type { ToolDocument } from '../../lib/tools/document/tool-fields.ts'
import type { Mask } from './mask-credentials.ts'
import { agentToolsOf, newRecording, type Recording } from './recording.ts'

/** Why an execution cannot be recorded afterwards. The message continues "It has no recording: ". */
export class NotRecorded extends Error {}

type Params = {
  stores: Pick<Stores, 'agents' | 'executions' | 'steps' | 'declarations'>
  /** Names models and endpoints. */
  environment: Environment
  mask: Mask
}

/**
 * What an execution received from models and tools, as `--record` would have stored it. It comes from the journal: the
 * responses, with the keys of their requests, and the results of tools, with those of agents that it called. What a
 * case does not have is left out of requests: the examples that the run learned from, and secrets.
 * @throws NotRecorded
 */
export async function recordingOf(params: Params, execution: Execution, name: string): Promise<Recording> {
  const recording = newRecording({ case: name, model: execution.options.model })
  await addRun(params, recording, execution)
  return recording
}

async function addRun(params: Params, recording: Recording, execution: Execution): Promise<void> {
  const { stores, mask } = params
  const { organizationId, agentId, versionId, cachedExecutionId, id } = execution
  const version = await stores.agents.getVersion({ organizationId, agentId, id: versionId })
  if (!version) throw new NotRecorded(`the version ${versionId} was deleted`)
  // What its code reads, it reads again.
  if (version.code) return
  const documents = version.tools as ToolDocument[]
  const tools = hash(documents)
  const agents = agentToolsOf(documents)
  const stored = (await stores.steps.read({ executionId: cachedExecutionId ?? id })) as RecordedModelStep[]
  if (stored.length < execution.steps) throw new NotRecorded('some of its steps were deleted')
  if (execution.error && !followsFromSteps(execution.error, stored.length))
    throw new NotRecorded(`it ended with ${execution.error.code}, which does not follow from its responses`)
  const steps = stored.map((step) => maskStep(step, mask)) as RecordedModelStep[]
  await addDeclarations(params, recording, { organizationId, steps, documents, tools })
  nameModel(params, recording, { execution, version, steps })
  const messages = await findMessages(params, { execution, version, stored, steps })
  for (const [index, { step, results }] of steps.entries()) {
    if (!step.request) throw new NotRecorded('it ran before requests were recorded')
    const { declarations: _, ...request } = step.request
    recording.responses.push({
      request: { ...request, ...(messages && { messages: messages[index] ?? '' }) },
      response: toResponse(step),
    })
    for (const call of step.calls) {
      const recorded = results.get(call.id)?.result
      const input = inputOf(call, { results })
      if (!recorded || input === null || isFinalAnswer(call)) continue
      const { executionId, usage: __, replayed: ___, ...result } = recorded
      if (!agents.has(call.name)) {
        const at = `${step.number}-${call.id}`
        recording.calls.push({ call: { tool: call.name, input, at, tools }, result })
      } else if (executionId !== undefined) {
        const child = await stores.executions.get({ organizationId, id: executionId })
        if (!child) throw new NotRecorded(`the execution ${executionId} that it called was deleted`)
        await addRun(params, recording, child)
      }
    }
  }
}

/** Errors by which a run gives up after its last response. */
const AFTER_RESPONSE = [
  'MaxAgentStepsExceeded',
  'ModelRefused',
  'ModelTruncated',
  'OutputSchemaMismatch',
  TOOLS_NEVER_CALLED,
]

/** Not if a request failed, a limit was reached or time ran out. */
const followsFromSteps = ({ code, step }: ExecutionError, steps: number): boolean =>
  AFTER_RESPONSE.includes(code) && (typeof step !== 'number' || step <= steps)

/** Names the model with which a replay begins: the one that responded, also if it was a fallback model. */
function nameModel(
  { environment }: Params,
  recording: Recording,
  { execution, version, steps }: Pick<Run, 'execution' | 'version' | 'steps'>,
): void {
  const [model, ...others] = new Set(steps.flatMap(({ step }) => step.model ?? []))
  if (others.length > 0) throw new NotRecorded('more than one model responded to it')
  if (model === undefined) return
  const first = execution.options.model ?? version.model
  if (!first) {
    recording.defaultModel ??= model
    if (recording.defaultModel === model) return
    throw new NotRecorded('agents that name no model ran with different ones')
  }
  if (formatModelName(parseModelName(first, environment)) === model) return
  if (execution.parentExecutionId !== null)
    throw new NotRecorded('a fallback model responded to an agent that it called')
  recording.model = model
}

function maskStep({ step, results }: RecordedStep, mask: Mask): RecordedStep {
  return { step: mask(step), results: new Map([...results].map(([id, result]) => [id, mask(result)])) }
}

function toResponse(step: ModelStep): ModelResponse {
  const { messages, text, calls, stopReason, isPaused } = step
  const { costUsd: _, ...tokens } = responseUsageOf(step)
  const toolCalls = calls.map(({ approval: _, ...call }) => call)
  return { messages, text, toolCalls, usage: tokens, stopReason, ...(isPaused && { isPaused }) }
}

/** The input with which a call was executed; null if nobody approved it. */
function inputOf({ input, approval }: StepCall, { results }: Pick<RecordedStep, 'results'>): Json | null {
  const decision = approval && storedDecision({ results }, approval.id)
  if (decision && decision.decision !== 'approve') return null
  const approved = decision?.input ?? input
  return approval ? addDefaults(approved, approval.inputSchema) : approved
}

type Found = { organizationId: string; steps: RecordedModelStep[]; documents: ToolDocument[]; tools: string }

async function addDeclarations({ stores, mask }: Params, recording: Recording, found: Found): Promise<void> {
  const { organizationId, steps, documents, tools } = found
  const isKnown = recording.declarations.some((entry) => entry.tools === tools)
  if (isKnown || steps.length === 0 || !documents.some(({ mcp }) => mcp)) return
  const key = steps[0]?.step.request?.declarations
  const served = key ? await stores.declarations.get({ organizationId, hash: key }) : null
  if (!served) throw new NotRecorded('the declarations of its MCP tools are not stored')
  // Requests contain them: a replay with others would not find its responses.
  if (hash(mask(served)) !== hash(served))
    throw new NotRecorded('the declarations of its MCP tools contain a secret')
  recording.declarations.push({ tools, served })
}

type Run = { execution: Execution; version: Version; stored: RecordedModelStep[]; steps: RecordedModelStep[] }

/** The hashes of the messages of each request, if a replay sends others than the run did; else null. */
async function findMessages(params: Params, run: Run): Promise<string[] | null> {
  const { execution, version, stored, steps } = run
  const sent = adapterOf(version)(execution.input).input
  const masked = params.mask(sent)
  const isSame = (execution.learnedFrom ?? []).length === 0 && hash(sent) === hash(masked)
  if (isSame && steps.every(({ step }, index) => hash(step.messages) === hash(stored[index]?.step.messages)))
    if (steps.every(({ results }, index) => hashResults(results) === hashResults(stored[index]?.results)))
      return null
  const { input, files } = await takeFiles(version, masked)
  let history: History | null = null
  return steps.map(({ step }, index) => {
    const previous = steps[index - 1]
    if (!history || previous?.step.model !== step.model) {
      history = openHistory(params, { ...run, files, text: inputMessage(input, []), model: step.model ?? '' })
      for (const earlier of steps.slice(0, index)) history.add(earlier)
    } else if (previous) history.add(previous)
    history.context.clearTo(step.clearedResults ?? 0)
    return hashMessages(history.context.messages)
  })
}

const hashResults = (results: RecordedStep['results'] = new Map()): string => hash([...results])

type Opened = Run & { files: InputFile[]; text: string; model: string }

const openHistory = ({ environment }: Params, { execution, version, files, text, model }: Opened): History =>
  new History({
    model: openLater(openModel, model, environment),
    checkOutput: outputValidatorOf(version),
    input: text,
    files,
    hasTools: version.tools.length > 0,
    maxAgentSteps: execution.options.maxAgentSteps,
    keptResults: version.context?.keep,
  })
