import { attemptId, endOfStep } from '../../core/attempts.ts'
import type { Execution, ExecutionSummary } from '../../core/execution.ts'
import { FINAL_ANSWER } from '../../core/model.ts'
import type { CallResult, RecordedModelStep, RecordedStep } from '../../core/step.ts'
import { spanIdOf, traceContextOf } from '../../core/traceparent.ts'
import { callKeyOf } from '../model-agent/call-key.ts'
import {
  type Attributes,
  chatAttributes,
  parseRecordedModel,
  runAttributes,
  stepAttributes,
  toolAttributes,
} from './conventions.ts'

/** The numbers of `SpanKind` of the OpenTelemetry API. */
export const INTERNAL = 0
export const CLIENT = 2

/** Times are ISO 8601. `error`: its message, which can be content; empty without the setting `otlpContent`. */
export type TraceSpan = {
  traceId: string
  spanId: string
  parentSpanId: string | null
  /** Whether the parent is a span of whoever sent the request, or of another run. */
  hasRemoteParent: boolean
  name: string
  kind: typeof INTERNAL | typeof CLIENT
  startedAt: string
  finishedAt: string
  attributes: Attributes
  error?: string
}

type Run = {
  /** Final. Without payloads if these are too large. */
  execution: Execution | ExecutionSummary
  slug: string
  /** Whether spans have payloads. */
  hasContent: boolean
}

/** The span of a run, which is the parent of those of its steps. */
export function toRunSpan({ execution, slug, hasContent }: Run): TraceSpan {
  const { traceId, spanId, parentSpanId } = traceContextOf(execution)
  const { createdAt, finishedAt, error } = execution
  return {
    ...{ traceId, spanId, parentSpanId, hasRemoteParent: parentSpanId !== null },
    name: `invoke_agent ${slug}`,
    kind: INTERNAL,
    startedAt: createdAt,
    finishedAt: finishedAt ?? createdAt,
    attributes: runAttributes(execution, slug, hasContent && 'input' in execution ? execution : undefined),
    ...(error && { error: hasContent ? error.message : '' }),
  }
}

/** The spans of a step: the response and the calls of a model agent, or the step or wait of a code agent. */
export function toStepSpans(run: Run, recorded: RecordedStep): TraceSpan[] {
  const { step } = recorded
  return step.kind === 'MODEL' ? ofModel(run, { ...recorded, step }) : [ofCode(run, recorded)]
}

function ofModel(run: Run, { step, results }: RecordedModelStep): TraceSpan[] {
  const { execution, hasContent } = run
  const { number, startedAt, finishedAt } = step
  const model = step.model ?? execution.model ?? ''
  const chat = toSpan(run, step, MODEL_KEY, {
    name: `chat ${parseRecordedModel(model).model}`,
    kind: CLIENT,
    ...{ startedAt, finishedAt },
    attributes: chatAttributes(step, model, hasContent),
  })
  const calls = step.calls.flatMap((call) => {
    const { approval, id, name } = call
    const decided = approval && results.get(approval.id)
    const wait =
      decided &&
      toSpan(run, step, approval.id, {
        name: `wait ${name}`,
        kind: INTERNAL,
        startedAt: finishedAt,
        finishedAt: decided.finishedAt,
        attributes: stepAttributes(number, undefined),
      })
    const ended = name === FINAL_ANSWER ? undefined : results.get(id)
    const tool =
      ended &&
      toSpan(run, step, id, {
        name: `execute_tool ${name}`,
        kind: INTERNAL,
        ...{ startedAt: ended.startedAt, finishedAt: ended.finishedAt },
        attributes: toolAttributes(call, ended.result, number, hasContent),
        ...errorOf(ended, hasContent),
      })
    return [wait, tool].filter((span) => span !== undefined)
  })
  return [chat, ...calls]
}

function ofCode(run: Run, recorded: RecordedStep): TraceSpan {
  const { step, results } = recorded
  const { number, startedAt } = step
  const isWait = step.kind === 'WAIT'
  const ends = [...results.values()].map(({ finishedAt }) => finishedAt).sort()
  const { finishedAt: endOfRun } = run.execution
  const finishedAt = ends.at(-1) ?? (isWait ? (endOfRun ?? startedAt) : step.finishedAt)
  const end = endOfStep(recorded)
  const failed = end && 'failed' in end ? end.failed : null
  const code = failed ? (failed.failure?.code ?? failed.failure?.name ?? 'Error') : undefined
  // The id of the first attempt is also that of the run of an agent, whose parent is this span.
  return toSpan(run, step, isWait ? WAIT_KEY : attemptId(1), {
    name: `${isWait ? 'wait' : 'step'} ${step.kind === 'MODEL' ? '' : step.name}`,
    kind: INTERNAL,
    ...{ startedAt, finishedAt },
    attributes: stepAttributes(number, code),
    ...(failed && errorOf(failed, run.hasContent)),
  })
}

/** In place of a call in the key of a span. No call has the empty id, and no step of a code agent has calls. */
const MODEL_KEY = ''
const WAIT_KEY = 'wait'

const errorOf = ({ result }: CallResult, hasContent: boolean) =>
  result.ok ? {} : { error: hasContent ? result.error : '' }

function toSpan(
  { execution }: Run,
  step: RecordedStep['step'],
  id: string,
  span: Omit<TraceSpan, 'traceId' | 'spanId' | 'parentSpanId' | 'hasRemoteParent'>,
): TraceSpan {
  const { traceId, spanId: parentSpanId } = traceContextOf(execution)
  const spanId = spanIdOf(callKeyOf(execution, step, { id }))
  return { ...span, traceId, spanId, parentSpanId, hasRemoteParent: false }
}
