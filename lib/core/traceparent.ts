import type { Execution } from './execution.ts'
import { sha256 } from './json/hash-json.ts'

type Traced = Pick<Execution, 'id' | 'traceparent'>

/** The place of a run in its trace. `parentSpanId`: null if the trace begins with the run. Ids are hexadecimal. */
export type TraceContext = {
  traceId: string
  spanId: string
  parentSpanId: string | null
  /** Whether whoever began the trace records it; null if that is this run. */
  isSampled: boolean | null
}

const TRACE_ID = /^(?!0+$)[0-9a-f]{32}$/
const SPAN_ID = /^(?!0+$)[0-9a-f]{16}$/
const BYTE = /^[0-9a-f]{2}$/
const SPAN_DIGITS = 16

/**
 * A `traceparent` as it is stored: of version 00, with no flag but `sampled`. Null for one that has to be ignored. A
 * higher version may have more fields (https://www.w3.org/TR/trace-context-1/#versioning-of-traceparent).
 */
export function toTraceparent(given: unknown): string | null {
  if (typeof given !== 'string') return null
  const [version = '', traceId = '', spanId = '', flags = '', ...more] = given.split('-')
  const isKnown = BYTE.test(version) && version !== 'ff' && (version !== '00' || more.length === 0)
  if (!isKnown || !TRACE_ID.test(traceId) || !SPAN_ID.test(spanId) || !BYTE.test(flags)) return null
  return `00-${traceId}-${spanId}-0${Number.parseInt(flags, 16) & 1}`
}

/**
 * Without a `traceparent`, the trace has the digits of the execution's id. The span of the run always has the random
 * ones at their end, so that each worker and each delivery knows it.
 */
export function traceContextOf({ id, traceparent }: Traced): TraceContext {
  const digits = id.replaceAll('-', '').toLowerCase()
  const spanId = digits.slice(-SPAN_DIGITS)
  if (traceparent === null) return { traceId: digits, spanId, parentSpanId: null, isSampled: null }
  const [, traceId = '', parentSpanId = '', flags] = traceparent.split('-')
  return { traceId, spanId, parentSpanId, isSampled: flags === '01' }
}

/** The span of a call or a step. `key`: see `callKeyOf`. */
export const spanIdOf = (key: string): string => sha256(key).slice(0, SPAN_DIGITS)

const MAX_WORD = 2 ** 32

/** The one that begins a trace decides for all of it; the last digits of its id are random. */
export function isTraceSampled(traced: Traced, percent: number): boolean {
  const { traceId, isSampled } = traceContextOf(traced)
  return isSampled ?? Number.parseInt(traceId.slice(-8), 16) < (percent / 100) * MAX_WORD
}

/**
 * The trace context that a run sends (https://www.w3.org/TR/trace-context-1/#traceparent-header), the same in each
 * worker. Its parent is the span of the run or, with a `key`, that of a call.
 */
export function traceparentOf(traced: Traced, percent: number, key?: string): string {
  const { traceId, spanId } = traceContextOf(traced)
  const parent = key === undefined ? spanId : spanIdOf(key)
  return `00-${traceId}-${parent}-0${isTraceSampled(traced, percent) ? 1 : 0}`
}
