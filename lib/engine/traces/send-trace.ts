import { LRUCache } from 'lru-cache'
import type { Execution, ExecutionSummary } from '../../core/execution.ts'
import type { DeliveryResult } from '../../core/notification.ts'
import type { AgentStore } from '../../core/ports/agents.ts'
import type { StepStore } from '../../core/step.ts'
import { type Environment, readSetting } from '../../environment.ts'
import { ParameterReadError } from '../../parameter-store.ts'
import { readSecret } from '../../secret-store.ts'
import { failed, post } from '../notifications/post.ts'
import { toRequests } from './requests.ts'
import { toRunSpan, toStepSpans } from './spans.ts'

type Stores = { steps: Pick<StepStore, 'list'>; agents: Pick<AgentStore, 'getVersion'> }

/** Sends the trace of a run. Never throws, except Unavailable. */
export type SendTrace = (execution: Execution | ExecutionSummary) => Promise<DeliveryResult>

/** For one request. A receiver that hangs must not hold up other deliveries. */
const TIMEOUT_MS = 5_000
/** For all requests of a trace, within the timeout of the function. */
const MAX_SENDING_MS = 25_000
/** Of JSON of the steps that are in memory at the same time. */
const PAGE_BYTES = 2_000_000
const PAGE_STEPS = 100
const MAX_SLUGS = 1_000

/**
 * Sends traces to the receiver of the deployment: https://opentelemetry.io/docs/specs/otlp/#otlphttp. Its operator has
 * named it: it may have a private address.
 */
export function traceSender({ steps, agents }: Stores, environment: Environment = process.env): SendTrace {
  const slugs = new LRUCache<string, string>({ max: MAX_SLUGS })
  const slugOf = async ({ organizationId, agentId, versionId: id }: ExecutionSummary): Promise<string> => {
    const known = slugs.get(id)
    if (known) return known
    const version = await agents.getVersion({ organizationId, agentId, id })
    if (version) slugs.set(id, version.slug)
    return version?.slug ?? agentId
  }

  return async (execution) => {
    const endpoint = readSetting('otlpEndpoint', environment)
    if (!endpoint) return failed(null, 'The setting otlpEndpoint is not set.')
    const headers = await readHeaders(environment)
    if (typeof headers === 'string') return failed(null, headers)
    const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`
    const { host } = new URL(url)
    const hasContent = readSetting('otlpContent', environment) === 'on'
    const run = { execution, slug: await slugOf(execution), hasContent }
    const pages = async function* () {
      yield [toRunSpan(run)]
      let after: string | null = null
      do {
        const page = { limit: PAGE_STEPS, maxBytes: PAGE_BYTES, after }
        const { items, next }: Awaited<ReturnType<StepStore['list']>> = await steps.list({
          executionId: execution.id,
          ...page,
        })
        yield items.flatMap((recorded) => toStepSpans(run, recorded))
        after = next
      } while (after !== null)
    }
    const protocol = readSetting('otlpProtocol', environment) ?? 'http/protobuf'
    const stopAt = Date.now() + MAX_SENDING_MS
    for await (const { body, contentType, countRejected } of toRequests(pages(), protocol)) {
      if (Date.now() > stopAt) return failed(null, `The trace was not sent within ${MAX_SENDING_MS / 1000} seconds.`)
      const request = { url, headers: { ...headers, 'content-type': contentType }, body }
      const { answer, ...result } = await post(request, { allowedHosts: [host], timeoutMs: TIMEOUT_MS })
      // "The client MUST NOT retry": https://opentelemetry.io/docs/specs/otlp/#failures-1
      if (!result.ok) return { ...result, isGone: result.responseStatus === 400 }
      const rejected = countRejected(answer)
      if (rejected > 0)
        return { ...failed(result.responseStatus, `The receiver rejected ${rejected} spans.`), isGone: true }
    }
    return { ok: true, responseStatus: 200, error: null, isGone: false }
  }
}

/**
 * The headers of the secret that the setting names, in the form of `OTEL_EXPORTER_OTLP_HEADERS`: names and
 * percent-encoded values. Or why there are none, without the secret.
 */
async function readHeaders(environment: Environment): Promise<Record<string, string> | string> {
  const name = readSetting('otlpHeaders', environment)
  if (!name) return {}
  try {
    const text = await readSecret(name, environment)
    if (!text) return `The secret ${name} (otlpHeaders) does not exist.`
    const { parseKeyPairsIntoRecord } = await import('@opentelemetry/core')
    const headers = parseKeyPairsIntoRecord(text)
    const isEmpty = Object.keys(headers).length === 0
    return isEmpty ? `The secret ${name} (otlpHeaders) must be name=value, separated by commas.` : headers
  } catch (error) {
    if (error instanceof ParameterReadError) return `Could not read the secret ${name} (${error.reason}).`
    throw error
  }
}
