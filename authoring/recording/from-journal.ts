import type { Version } from '../../lib/core/agent.ts'
import type { Execution } from '../../lib/core/execution.ts'
import {
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
import { History } from '../../lib/engine/model-agent/history/history.ts'
import { takeFiles } from '../../lib/engine/model-agent/input-files.ts'
import { executedInputOf, isDecidedBySteps } from '../../lib/engine/replay/recorded-run.ts'
import { hash, hashMessages } from '../../lib/engine/request-key.ts'
import type { Environment } from '../../lib/environment.ts'
import { openLater, openModel } from '../../lib/models/open-model.ts'
import type { ToolDocument } from '../../lib/tools/document/tool-fields.ts'
import type { Mask } from './mask-credentials.ts'
import type { JournalCall, JournalStep, RecordedError, RecordedJournal, Recording } from './recording.ts'

/** Why an execution cannot be recorded afterwards. The message continues "It has no recording: ". */
export class NotRecorded extends Error {}

type Params = {
  stores: Pick<Stores, 'agents' | 'executions' | 'steps' | 'declarations'>
  /** Names models and endpoints. */
  environment: Environment
  mask: Mask
  /** The errors of the requests that failed. Without them, an execution that ended with one is not recorded. */
  errors?: RecordedError[]
}

/**
 * What an execution received from models and tools: its journal, with those of agents that it called. What a case does
 * not have is left out of requests: the examples that the run learned from, and secrets.
 * @throws NotRecorded
 */
export async function recordingOf(
  params: Params,
  execution: Execution,
  origin: Pick<Recording, 'case' | 'defaultModel'>,
): Promise<Recording> {
  const { model } = execution.options
  const { errors = [] } = params
  return { ...origin, model, run: await journalOf(params, execution), errors }
}

/** Null for a code agent: what its code reads, it reads again. */
async function journalOf(params: Params, execution: Execution): Promise<RecordedJournal | null> {
  const { stores, mask, errors } = params
  const { organizationId, agentId, versionId, cachedExecutionId, id } = execution
  const version = await stores.agents.getVersion({ organizationId, agentId, id: versionId })
  if (!version) throw new NotRecorded(`the version ${versionId} was deleted`)
  if (version.code) return null
  if (version.remote) return remoteJournalOf(execution, mask)
  const stored = (await stores.steps.read({ executionId: cachedExecutionId ?? id })) as RecordedModelStep[]
  if (stored.length < execution.steps) throw new NotRecorded('some of its steps were deleted')
  if (execution.error && !errors && !isDecidedBySteps(execution.error, stored.length))
    throw new NotRecorded(`it ended with ${execution.error.code}, which does not follow from its responses`)
  const steps = stored.map((step) => maskStep(step, mask)) as RecordedModelStep[]
  const messages = await findMessages(params, { execution, version, stored, steps })
  const journal: RecordedJournal = {
    tools: hash(version.tools),
    ...(await declarationsOf(params, { organizationId, steps, version })),
    steps: [],
  }
  for (const [index, { step, results }] of steps.entries()) {
    if (!step.request) throw new NotRecorded('it ran before requests were recorded')
    const { declarations: _, ...request } = step.request
    const { costUsd: __, ...usage } = responseUsageOf(step)
    const { model, text, messages: sent, stopReason, clearedResults, isPaused } = step
    const recorded: JournalStep = {
      ...(model !== undefined && { model }),
      request: { ...request, ...(messages && { messages: messages[index] ?? '' }) },
      text,
      calls: [],
      messages: sent,
      usage,
      stopReason,
      ...(clearedResults !== undefined && { clearedResults }),
      ...(isPaused && { isPaused }),
    }
    for (const call of step.calls)
      recorded.calls.push(await toJournalCall(params, { version, organizationId, call, results }))
    journal.steps.push(recorded)
  }
  return journal
}

/** @throws NotRecorded if the agent gave no answer */
function remoteJournalOf({ input, output, error }: Execution, mask: Mask): RecordedJournal {
  if (error && !ANSWERS.includes(error.code))
    throw new NotRecorded(`it ended with ${error.code}, which is no answer of the remote agent`)
  const { code = '', message = '' } = error ?? {}
  const remote = { input: hash(mask(input)), output: mask(output), error: error && mask({ code, message }) }
  return { tools: hash([]), remote, steps: [] }
}

/** Codes of errors that follow from what a remote agent answered. */
const ANSWERS = ['AgentFailed', 'OutputSchemaMismatch', 'OutputTooLarge']

type Made = { version: Version; organizationId: string; call: StepCall; results: RecordedStep['results'] }

async function toJournalCall(
  params: Params,
  { version, organizationId, call, results }: Made,
): Promise<JournalCall> {
  const { approval, ...made } = call
  const stored = results.get(call.id)?.result
  const input = executedInputOf(call, results)
  if (!stored || input === null || isFinalAnswer(call)) return made
  const { executionId, usage: _, replayed: __, ...result } = stored
  const executed = { ...made, ...(approval && { approved: input }) }
  const tool = (version.tools as ToolDocument[]).find(({ name }) => name === call.name)
  if (tool?.agent === undefined) return { ...executed, result }
  const child = executionId && (await params.stores.executions.get({ organizationId, id: executionId }))
  if (executionId && !child) throw new NotRecorded(`the execution ${executionId} that it called was deleted`)
  const run = child ? await journalOf(params, child) : null
  return { ...executed, ...(run && { run }) }
}

function maskStep({ step, results }: RecordedStep, mask: Mask): RecordedStep {
  return { step: mask(step), results: new Map([...results].map(([id, result]) => [id, mask(result)])) }
}

type Served = { organizationId: string; steps: RecordedModelStep[]; version: Version }

async function declarationsOf(
  { stores, mask, errors }: Params,
  { organizationId, steps, version }: Served,
): Promise<Pick<RecordedJournal, 'declarations'>> {
  if (steps.length === 0 || !(version.tools as ToolDocument[]).some(({ mcp }) => mcp)) return {}
  const key = steps[0]?.step.request?.declarations
  // In a recorded case, the run did without a server that was not available.
  if (!key && errors) return {}
  const declarations = key ? await stores.declarations.get({ organizationId, hash: key }) : null
  if (!declarations) throw new NotRecorded('the declarations of its MCP tools are not stored')
  // Requests contain them: a replay with others would not find its responses.
  if (hash(mask(declarations)) !== hash(declarations))
    throw new NotRecorded('the declarations of its MCP tools contain a secret')
  return { declarations }
}

type Run = { execution: Execution; version: Version; stored: RecordedModelStep[]; steps: RecordedModelStep[] }

/** The hashes of the messages of each request, if a replay sends others than the run did; else null. */
async function findMessages({ mask, environment }: Params, run: Run): Promise<string[] | null> {
  const { execution, version, stored, steps } = run
  const sent = adapterOf(version)(execution.input).input
  const masked = mask(sent)
  const isLearned = (execution.learnedFrom ?? []).length > 0
  if (!isLearned && hash([sent, stored.map(contentOf)]) === hash([masked, steps.map(contentOf)])) return null
  const { input, files } = await takeFiles(version, masked)
  const openHistory = (model: string) =>
    new History({
      model: openLater(openModel, model, environment),
      checkOutput: outputValidatorOf(version),
      input: inputMessage(input, []),
      files,
      hasTools: version.tools.length > 0,
      maxAgentSteps: execution.options.maxAgentSteps,
      keptResults: version.context?.keep,
    })
  let history: History | null = null
  return steps.map(({ step }, index) => {
    const previous = steps[index - 1]
    if (!history || previous?.step.model !== step.model) {
      history = openHistory(step.model ?? '')
      for (const earlier of steps.slice(0, index)) history.add(earlier)
    } else if (previous) history.add(previous)
    history.context.clearTo(step.clearedResults ?? 0)
    return hashMessages(history.context.messages)
  })
}

const contentOf = ({ step, results }: RecordedStep) => [step, [...results]]
