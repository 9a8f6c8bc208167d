import type { ISerializer } from '@opentelemetry/otlp-transformer'
import { CONVENTIONS_VERSION } from './conventions.ts'
import type { TraceSpan } from './spans.ts'

type Transformer = typeof import('@opentelemetry/otlp-transformer')
type Serializer = Transformer['JsonTraceSerializer']
type ReadableSpan = Serializer extends ISerializer<(infer Span)[], unknown> ? Span : never

/** `countRejected`: how many spans the receiver says it has not accepted. */
type OtlpRequest = { body: Buffer; contentType: string; countRejected(answer: Buffer | undefined): number }

const SERVICE = 'agent-execution-service'
/** https://opentelemetry.io/docs/specs/semconv/resource/#service */
const RESOURCE = { attributes: { 'service.name': SERVICE } }
const SCOPE = { name: SERVICE, version: `gen-ai-${CONVENTIONS_VERSION}` }

/** Receivers accept 4 MB at least: what gRPC has as its default, and most of them for HTTP, too. */
const MAX_BYTES = 3_500_000
/** Of JSON, beside its attributes: ids, times, and the names of members; and the same for each attribute. */
const SPAN_BYTES = 500
const ATTRIBUTE_BYTES = 50

/** The spans in requests that are small enough. The serializer is loaded on demand: few deployments have a receiver. */
export async function* toRequests(
  pages: AsyncIterable<TraceSpan[]>,
  protocol: string,
): AsyncGenerator<OtlpRequest> {
  const transformer: Transformer = await import('@opentelemetry/otlp-transformer')
  const isJson = protocol === 'http/json'
  const serializer = isJson ? transformer.JsonTraceSerializer : transformer.ProtobufTraceSerializer
  const contentType = isJson ? 'application/json' : 'application/x-protobuf'
  const toRequest = (spans: TraceSpan[]): OtlpRequest => ({
    body: Buffer.from(serializer.serializeRequest(spans.map(toReadable)) ?? []),
    contentType,
    countRejected: (answer) => countRejected(serializer, answer),
  })
  let spans: TraceSpan[] = []
  let bytes = 0
  for await (const page of pages)
    for (const span of page) {
      const size = sizeOf(span)
      if (bytes + size > MAX_BYTES && spans.length > 0) {
        yield toRequest(spans)
        spans = []
        bytes = 0
      }
      spans.push(span)
      bytes += size
    }
  if (spans.length > 0) yield toRequest(spans)
}

/** At least what the span needs in either encoding. */
const sizeOf = ({ attributes, name, error = '' }: TraceSpan): number =>
  SPAN_BYTES +
  Buffer.byteLength(JSON.stringify([name, error, attributes])) +
  ATTRIBUTE_BYTES * Object.keys(attributes).length

/** Receivers may answer anything: only what is understood counts. */
function countRejected(serializer: Serializer, answer: Buffer | undefined): number {
  if (!answer?.length) return 0
  try {
    return Number(serializer.deserializeResponse(answer).partialSuccess?.rejectedSpans ?? 0) || 0
  } catch {
    return 0
  }
}

const SAMPLED = 1
const ERROR = 2

/** What the serializers read of a span. Its declared type has more, which the SDK uses. */
function toReadable(span: TraceSpan): ReadableSpan {
  const { traceId, spanId, parentSpanId, name, kind, attributes, error } = span
  const context = { traceId, traceFlags: SAMPLED }
  return {
    name,
    kind,
    spanContext: () => ({ ...context, spanId }),
    ...(parentSpanId !== null && {
      parentSpanContext: { ...context, spanId: parentSpanId, isRemote: span.hasRemoteParent },
    }),
    startTime: toTime(span.startedAt),
    endTime: toTime(span.finishedAt > span.startedAt ? span.finishedAt : span.startedAt),
    status: error === undefined ? { code: 0 } : { code: ERROR, ...(error && { message: error }) },
    attributes,
    events: [],
    links: [],
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
    resource: RESOURCE,
    instrumentationScope: SCOPE,
  } as unknown as ReadableSpan
}

/** Seconds since the epoch, and nanoseconds. */
function toTime(iso: string): [number, number] {
  const ms = Date.parse(iso)
  return [Math.floor(ms / 1000), (ms % 1000) * 1e6]
}
