import type { Execution } from '../../lib/core/execution.ts'
import { hashJson } from '../../lib/core/json/hash-json.ts'
import { ModelError } from '../../lib/core/model.ts'
import type { CallResult, RecordedModelStep, RequestKey, StepCall } from '../../lib/core/step.ts'
import type { Engine } from '../../lib/engine/engine.ts'
import { callKeyOf, childId } from '../../lib/engine/model-agent/call-key.ts'
import { Diverged } from '../../lib/engine/replay/diverged.ts'
import { hash, toRequestKey } from '../../lib/engine/request-key.ts'
import { approvalIdOf } from '../../lib/engine/waiting/approvals.ts'
import { openLater, openModel } from '../../lib/models/open-model.ts'
import { openTools } from '../../lib/tools/open-tools.ts'
import { type JournalStep, type RecordedJournal, type Recording, stepsOf } from './recording.ts'

const RECORD = 'Run with --record.'

/** Never opened: a replay only needs a name. */
const NO_MODEL = 'openai-compatible/none'

/**
 * What an engine needs to repeat what was recorded, without a network, an API key or a secret. Without a recording,
 * that is enough for code agents.
 * @param onMiss called with a request or call that has no recording; the run cannot be right then
 */
export function replaySources(
  recording: Recording | null,
  onMiss: (message: string) => void,
): Required<Pick<Engine, 'openModel' | 'openTools' | 'recordingOf'>> {
  const { run = null, errors = [], defaultModel = null } = recording ?? {}
  const failed = new Map(errors.map(({ request, error }) => [hashJson(request), error]))
  const known = [
    ...(run ? stepsOf(run) : []).flatMap(({ request }) => request ?? []),
    ...errors.map(({ request }) => request),
  ]
  const opened = new Map<string | null, { execution: Execution; journal: RecordedJournal | null }>()
  const replay = {
    executionId: '',
    tools: {},
    models: 'recorded' as const,
    steps: 'live' as const,
    ignore: [],
    fromStep: 1,
    isTrial: false,
    defaultModel: defaultModel ?? NO_MODEL,
  }

  /** The agents that an agent calls are found by their calls, in whatever order they run. */
  function journalOf({ id, parentExecutionId }: Execution): RecordedJournal | null {
    if (parentExecutionId === null) return run
    const { execution: parent, journal } = opened.get(parentExecutionId) ?? {}
    if (!parent || !journal) return null
    const calls = journal.steps.flatMap((step, index) =>
      step.calls.map((call) => ({ call, step: numbered(step, index) })),
    )
    return (
      calls.find(({ call, step }) => id === childId(parent, callKeyOf(parent, step, call)))?.call.run ?? null
    )
  }

  /** A request that no step of the recording answers. */
  function respond(key: RequestKey): never {
    const error = failed.get(hashJson(key))
    if (error) throw new ModelError(error.message, { isTransient: false, isRefusal: error.isRefusal })
    const change = explainChange(key, known)
    const reason = change && 'The request has changed since it was recorded. '
    const message = `${reason}No recording for this model request.${change} ${RECORD}`
    onMiss(message)
    throw new ModelError(message, { isTransient: false })
  }

  function remoteRecordingOf(execution: Execution, journal: RecordedJournal | null) {
    const isSame = journal?.remote?.input === hash(execution.input)
    const message = `No recording for this input of the remote agent. ${RECORD}`
    if (!isSame) onMiss(message)
    const { output = null, error = null } = (isSame && journal?.remote) || {}
    const missed = isSame ? null : { code: 'AgentFailed', message }
    return {
      original: { ...execution, output, error: error ?? missed },
      steps: [],
      ofCase: { replay, served: {} },
    }
  }

  return {
    recordingOf(execution, version) {
      if (version.code) return null
      const journal = journalOf(execution)
      opened.set(execution.id, { execution, journal })
      if (version.remote) return remoteRecordingOf(execution, journal)
      const hasSameTools = journal?.tools === hash(version.tools)
      const steps = journal?.steps.map((step, index) => toRecordedStep(numbered(step, index), hasSameTools))
      const served = (hasSameTools && journal.declarations) || {}
      return { original: execution, steps: steps ?? [], ofCase: { replay, served } }
    },

    async openModel(text, environment) {
      const model = openLater(openModel, text, environment)
      return { ...model, respond: async (request) => respond(toRequestKey(model.name, request)) }
    },

    openTools(documents, deps) {
      const { served = {}, recorded } = deps
      // Opening an MCP tool without its declarations would connect to its server.
      const offline = documents.filter(({ mcp, name }) => !mcp || Object.hasOwn(served, name))
      const found: typeof recorded = (document, options) => {
        try {
          return recorded?.(document, options) ?? null
        } catch (error) {
          if (error instanceof Diverged)
            onMiss(`No recording for this call of the tool ${String(error.error.tool)}. ${RECORD}`)
          throw error
        }
      }
      return openTools(offline, { ...deps, recorded: found })
    },
  }
}

const AT = { startedAt: '', finishedAt: '' }

type NumberedStep = JournalStep & RecordedModelStep['step']

const numbered = (step: JournalStep, index: number): NumberedStep => ({
  ...step,
  ...AT,
  kind: 'MODEL',
  number: index + 1,
})

/** A step as `lib/engine/replay` reads it. The results of other tools are not those of this version. */
function toRecordedStep(step: NumberedStep, hasSameTools: boolean): RecordedModelStep {
  const results = new Map<string, CallResult>()
  const calls = step.calls.map(({ approved, result, run: _, ...call }): StepCall => {
    if (result && hasSameTools) results.set(call.id, { callId: call.id, result, ...AT })
    if (approved === undefined) return call
    const id = approvalIdOf(step, call.id)
    const value = { decision: 'approve', input: approved }
    results.set(id, { callId: id, result: { ok: true, value }, ...AT })
    return { ...call, approval: { id, until: '', inputSchema: {} } }
  })
  return { step: { ...step, calls }, results }
}

/** What a key of a recording consists of: recordings have the declarations themselves. */
const PARTS: Record<Exclude<keyof RequestKey, 'declarations'>, string> = {
  model: 'the model',
  answerMode: 'how the output is requested',
  instructions: 'the instructions',
  tools: 'the tools or the output schema',
  messages: 'the input, an earlier response or a tool result',
  truncatedAfter: 'the output limit',
}

/** What differs between a request and the most similar recorded one; empty if there is none. */
function explainChange(key: RequestKey, recorded: RequestKey[]): string {
  const parts = Object.keys(PARTS) as (keyof typeof PARTS)[]
  const [changed = []] = recorded
    .map((other) => parts.filter((part) => key[part] !== other[part]))
    .sort((a, b) => a.length - b.length)
  return changed.length === 0 ? '' : ` Changed: ${changed.map((part) => PARTS[part]).join(', ')}.`
}
