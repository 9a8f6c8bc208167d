import { validateHeaderName, validateHeaderValue } from 'node:http'
import type { JsonTraceSerializer } from '@opentelemetry/otlp-transformer'
import { LRUCache } from 'lru-cache'
import type { Execution, ExecutionSummary } from '../../core/execution.ts'
import type { DeliveryResult } from '../../core/notification.ts'
import type { AgentStore } from '../../core/ports/agents.ts'
import type { PageRequest } from '../../core/ports/system.ts'
import type { StepStore } from '../../core/step.ts'
import { type Environment, readSetting } from '../../environment.ts'
import { ParameterReadError } from '../../parameter-store.ts'
import { readSecret } from '../../secret-store.ts'
import { failed, post } from '../../tools/egress/post.ts'
import { type TraceSpan, toRunSpan, toStepSpans } from './spans.ts'

type Stores = { steps: Pick<StepStore, 'list'>; agents: Pick<AgentStore, 'getVersion'> }

/** Sends the trace of a run. Its errors contain neither secrets nor content. @throws Unavailable */
export type SendTrace = (execution: Execution | ExecutionSummary) => Promise<DeliveryResult>

/** For one request. A receiver that hangs must not hold up other deliveries. */
const TIMEOUT_MS = 5_000
/** After this time, no further request of a trace begins: the function has 60 s. */
const MAX_SENDING_MS = 25_000
/** Steps that are in memory at the same time, by number and by bytes of JSON. */
const PAGE = { limit: 500, maxBytes: 2_000_000 }
/** Receivers accept 4 MB at least: what gRPC has as its default, and most of them for HTTP, too. */
const MAX_BODY_BYTES = 3_900_000
const MAX_SLUGS = 1_000

/**
 * Sends traces to the receiver of the deployment: https://opentelemetry.io/docs/specs/otlp/#otlphttp. Its operator has
 * named it: it may have a private address.
 */
export function traceSender(
  { steps, agents }: Stores,
  environment: Environment = process.env,
  send: typeof post = post,
): SendTrace {
  const slugs = new LRUCache<string, string>({ max: MAX_SLUGS })
  const slugOf = async ({ organizationId, agentId, versionId: id }: ExecutionSummary): Promise<string> => {
    const slug = slugs.get(id) ?? (await agents.getVersion({ organizationId, agentId, id }))?.slug ?? agentId
    slugs.set(id, slug)
    return slug
  }

  return async (execution) => {
    const stopAt = Date.now() + MAX_SENDING_MS
    const url = URL.parse(readSetting('otlpEndpoint', environment) ?? '')
    if (!url) return failed(null, 'The setting otlpEndpoint is not set.')
    url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/traces`
    const secret = await readHeaders(environment)
    if (typeof secret === 'string') return failed(null, secret)
    const { contentType, toBodies, countRejected } = await openSerializer(
      readSetting('otlpProtocol', environment),
    )
    const headers = { ...secret, 'content-type': contentType }
    const hasContent = readSetting('otlpContent', environment) === 'on'
    const run = { execution, slug: await slugOf(execution), hasContent }
    let spans = [toRunSpan(run)]
    let lost: DeliveryResult | null = null
    for (let after: PageRequest['after'] = null; ; ) {
      const { items, next } = await steps.list({ executionId: execution.id, ...PAGE, after })
      spans = [...spans, ...items.flatMap((recorded) => toStepSpans(run, recorded))]
      for (const body of toBodies(spans)) {
        if (Date.now() > stopAt) return failed(null, `Not sent within ${MAX_SENDING_MS / 1000} seconds.`)
        const policy = { allowedHosts: [url.host], timeoutMs: TIMEOUT_MS }
        const { answer, ...result } = await send({ url: url.href, headers, body }, policy)
        const rejected = countRejected(answer)
        if (rejected > 0) lost = failed(result.responseStatus, `The receiver rejected ${rejected} spans.`)
        if (result.ok) continue
        // "The client MUST NOT retry": https://opentelemetry.io/docs/specs/otlp/#failures-1
        if (result.responseStatus !== 400) return { ...result, isGone: false }
        lost = result
      }
      if (next === null) break
      after = next
      spans = []
    }
    return lost ? { ...lost, isGone: true } : { ok: true, responseStatus: 200, error: null, isGone: false }
  }
}

/** Loaded on demand: few deployments have a receiver. */
async function openSerializer(protocol: string | undefined) {
  const transformer = await import('@opentelemetry/otlp-transformer')
  const isJson = protocol === 'http/json'
  const serializer: typeof JsonTraceSerializer = isJson
    ? transformer.JsonTraceSerializer
    : transformer.ProtobufTraceSerializer
  /** Halves requests that are too large. */
  const toBodies = (spans: TraceSpan[]): Buffer[] => {
    const body = Buffer.from(serializer.serializeRequest(spans) ?? [])
    const middle = spans.length >>> 1
    if (body.length <= MAX_BODY_BYTES || middle === 0) return [body]
    return [spans.slice(0, middle), spans.slice(middle)].flatMap(toBodies)
  }
  /** How many spans the receiver says it has not accepted. It may answer anything: only what is understood counts. */
  const countRejected = (answer: Buffer | undefined): number => {
    try {
      return Number(serializer.deserializeResponse(answer ?? Buffer.of()).partialSuccess?.rejectedSpans) || 0
    } catch {
      return 0
    }
  }
  return { contentType: isJson ? 'application/json' : 'application/x-protobuf', toBodies, countRejected }
}

/**
 * The headers of the secret that the setting names, in the form of `OTEL_EXPORTER_OTLP_HEADERS`: names and
 * percent-encoded values. Or why there are none, without anything of the secret.
 */
async function readHeaders(environment: Environment): Promise<Record<string, string> | string> {
  const name = readSetting('otlpHeaders', environment)
  if (!name) return {}
  try {
    const text = await readSecret(name, environment)
    if (!text) return `The secret ${name} (otlpHeaders) does not exist.`
    const { parseKeyPairsIntoRecord } = await import('@opentelemetry/core')
    const headers = Object.entries(parseKeyPairsIntoRecord(text))
    for (const header of headers) {
      validateHeaderName(header[0])
      validateHeaderValue(...header)
    }
    if (headers.length > 0) return Object.fromEntries(headers)
  } catch (error) {
    if (error instanceof ParameterReadError) return `Could not read the secret ${name} (${error.reason}).`
    // The errors of Node.js contain the name of a header, which can be a token in the wrong place.
  }
  return `The secret ${name} (otlpHeaders) must be name=value, separated by commas.`
}
