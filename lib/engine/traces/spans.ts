import type { JsonTraceSerializer } from '@opentelemetry/otlp-transformer'
import { attemptId, endOfStep } from '../../core/attempts.ts'
import type { Execution, ExecutionSummary } from '../../core/execution.ts'
import { FINAL_ANSWER } from '../../core/model.ts'
import { type RecordedModelStep, type RecordedStep, WAIT_RESULT } from '../../core/step.ts'
import { spanIdOf, traceContextOf } from '../../core/traceparent.ts'
import { callKeyOf } from '../model-agent/call-key.ts'
import * as conventions from './conventions.ts'

/** A span, with what serializers read of it. Its declared type has more, which the SDK uses. */
export type TraceSpan = Parameters<typeof JsonTraceSerializer.serializeRequest>[0][number]

/** `execution`: final, and without payloads if these are too large. `hasContent`: whether spans have payloads. */
type Run = { execution: Execution | ExecutionSummary; slug: string; hasContent: boolean }

/** The numbers of `SpanKind`, `SpanStatusCode` and `TraceFlags` of the OpenTelemetry API. */
const INTERNAL = 0
const CLIENT = 2
const ERROR = 2
const SAMPLED = 1

const SERVICE = 'agent-execution-service'
/** https://opentelemetry.io/docs/specs/semconv/resource/#service */
const RESOURCE = { attributes: { 'service.name': SERVICE } }
const SCOPE = { name: SERVICE, version: `gen-ai-${conventions.CONVENTIONS_VERSION}` }

/** The span of a run, which is the parent of those of its steps. */
export function toRunSpan(run: Run): TraceSpan {
  const { execution, slug } = run
  const { createdAt, finishedAt, error } = execution
  return toSpan(run, null, {
    name: `invoke_agent ${slug}`,
    startedAt: createdAt,
    finishedAt: finishedAt ?? createdAt,
    attributes: conventions.runAttributes(execution, slug),
    content: () => conventions.runContent(execution),
    error: error?.message,
  })
}

/** The spans of a step: the response and the calls of a model agent, or the step or wait of a code agent. */
export function toStepSpans(run: Run, recorded: RecordedStep): TraceSpan[] {
  const { step } = recorded
  return step.kind === 'MODEL' ? toModelSpans(run, { ...recorded, step }) : [toCodeSpan(run, recorded)]
}

/** In place of a call in the key of a response. No call has the empty id. */
const RESPONSE = ''

function toModelSpans(run: Run, { step, results }: RecordedModelStep): TraceSpan[] {
  const { number, startedAt, finishedAt } = step
  const model = step.model ?? run.execution.model ?? ''
  const chat = toSpan(run, callKeyOf(run.execution, step, { id: RESPONSE }), {
    name: `chat ${conventions.parseRecordedModel(model).model}`,
    kind: CLIENT,
    ...{ startedAt, finishedAt },
    attributes: conventions.chatAttributes(step, model),
    content: () => conventions.chatContent(step),
  })
  const calls = step.calls.flatMap((call) => {
    const { approval, id, name } = call
    const decided = approval && results.get(approval.id)
    const ended = name === FINAL_ANSWER ? undefined : results.get(id)
    const wait = decided && {
      ...{ id: decided.callId, name: `wait ${name}` },
      ...{ startedAt: finishedAt, finishedAt: decided.finishedAt },
      attributes: conventions.stepAttributes(number),
    }
    const tool = ended && {
      ...{ id, name: `execute_tool ${name}` },
      ...{ startedAt: ended.startedAt, finishedAt: ended.finishedAt },
      attributes: conventions.toolAttributes(call, ended.result, number),
      content: () => conventions.toolContent(call, ended.result),
      error: ended.result.ok ? undefined : ended.result.error,
    }
    return [wait, tool].filter((part) => part !== undefined)
  })
  return [chat, ...calls.map((part) => toSpan(run, callKeyOf(run.execution, step, part), part))]
}

function toCodeSpan(run: Run, recorded: RecordedStep): TraceSpan {
  const { step, results } = recorded
  const isWait = step.kind === 'WAIT'
  const ends = [...results.values()].map(({ finishedAt }) => finishedAt).sort()
  const endOfOpen = isWait ? run.execution.finishedAt : step.finishedAt
  const end = endOfStep(recorded)
  const { result, failure } = (end && 'failed' in end && end.failed) || {}
  // The id of the first attempt is also that of the run of an agent, whose parent is this span.
  return toSpan(run, callKeyOf(run.execution, step, { id: isWait ? WAIT_RESULT : attemptId(1) }), {
    name: `${isWait ? 'wait' : 'step'} ${step.kind === 'MODEL' ? '' : step.name}`,
    startedAt: step.startedAt,
    finishedAt: ends.at(-1) ?? endOfOpen ?? step.startedAt,
    attributes: conventions.stepAttributes(
      step.number,
      result && (failure?.code ?? failure?.name ?? 'Error'),
    ),
    error: result?.ok === false ? result.error : undefined,
  })
}

type Part = {
  name: string
  kind?: number
  /** ISO 8601. */
  startedAt: string
  finishedAt: string
  attributes: conventions.Attributes
  content?(): conventions.Attributes
  /** Its message, which can be content. */
  error?: string | undefined
}

/** `key`: of the call or the step; null for the span of the run. Ids are the same with each delivery. */
function toSpan({ execution, hasContent }: Run, key: string | null, part: Part): TraceSpan {
  const { name, kind = INTERNAL, startedAt, finishedAt, attributes, content, error } = part
  const run = traceContextOf(execution)
  const context = { traceId: run.traceId, traceFlags: SAMPLED }
  const spanId = key === null ? run.spanId : spanIdOf(key)
  const parentSpanId = key === null ? run.parentSpanId : run.spanId
  const all = Object.entries({ ...attributes, ...(hasContent && content?.()) })
  const span = {
    ...{ name, kind },
    spanContext: () => ({ ...context, spanId }),
    ...(parentSpanId && {
      parentSpanContext: { ...context, spanId: parentSpanId, isRemote: key === null },
    }),
    startTime: toTime(startedAt),
    endTime: toTime(finishedAt > startedAt ? finishedAt : startedAt),
    status: error === undefined ? { code: 0 } : { code: ERROR, ...(hasContent && { message: error }) },
    attributes: Object.fromEntries(all.filter(([, value]) => value !== undefined)),
    ...{ events: [], links: [] },
    ...{ droppedAttributesCount: 0, droppedEventsCount: 0, droppedLinksCount: 0 },
    ...{ resource: RESOURCE, instrumentationScope: SCOPE },
  }
  return span as unknown as TraceSpan
}

/** Seconds since the epoch, and nanoseconds. */
function toTime(iso: string): [number, number] {
  const ms = Date.parse(iso)
  return [Math.floor(ms / 1000), (ms % 1000) * 1e6]
}
