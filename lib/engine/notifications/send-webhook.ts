import type { IncomingMessage } from 'node:http'
import type { DeliveryResult, WebhookSecret } from '../../core/notification.ts'
import type { EgressPolicy, MayBePrivate } from '../../tools/egress/egress-policy.ts'
import { requestOnce, toConnectionError } from '../../tools/egress/send-request.ts'
import { signWebhook } from './sign-webhook.ts'

/** For everything, from the lookup of the host to the end of the answer. */
const TIMEOUT_MS = 20_000

/** Of an answer that is read, to see that it was complete. The rest is not waited for. */
const MAX_READ_BYTES = 65_536

const MAX_ERROR_LENGTH = 200

type WebhookRequest = {
  url: string
  /** Hosts that may have addresses that are not public, and use plain HTTP. */
  allowedHosts: string[]
  /** Which of them operators let have such addresses. */
  mayBePrivate: MayBePrivate
  /** All secrets of the destination. Those that have expired do not sign. */
  secrets: WebhookSecret[]
  eventId: string
  body: string
  /** Milliseconds since the epoch. */
  now: number
}

type Options = { timeoutMs?: number; lookup?: EgressPolicy['lookup'] }

/**
 * Sends an event to a receiver, signed, under the egress policy of HTTP tools. Never throws. Errors contain no secret
 * and nothing of the event or of the answer's body.
 */
export async function sendWebhook(
  { url, allowedHosts, mayBePrivate, secrets, eventId, body, now }: WebhookRequest,
  { timeoutMs = TIMEOUT_MS, lookup }: Options = {},
): Promise<DeliveryResult> {
  const signal = AbortSignal.timeout(timeoutMs)
  let status: number | null = null
  try {
    const signature = signWebhook({ eventId, body, secrets, now })
    if (!signature) return failed(null, 'The webhook has no valid secret. Rotate it to get a new one.')
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'agent-execution-service',
      ...signature,
    }
    const request = { method: 'POST', url: new URL(url), headers, body, signal }
    const response = await requestOnce(request, { allowedHosts, mayBePrivate, lookup })
    status = response.statusCode ?? null
    const problem = findProblem(response, request.url)
    if (problem) {
      response.destroy()
      return failed(status, problem)
    }
    await discard(response).catch((error: Error) => {
      throw toConnectionError(error, request.url)
    })
    // An answer without a length ends without an error.
    signal.throwIfAborted()
    return { ok: true, responseStatus: status, error: null, isGone: false }
  } catch (error) {
    const answer = status === null ? 'No answer' : 'The answer was not complete'
    return failed(status, signal.aborted ? `${answer} within ${timeoutMs / 1000} seconds.` : textOf(error))
  }
}

/** Null for 2xx. Of a redirect it names the host: the rest may be a secret of the receiver. */
function findProblem({ statusCode = 0, headers }: IncomingMessage, url: URL): string | null {
  if (statusCode >= 200 && statusCode <= 299) return null
  const { location } = headers
  if (statusCode < 300 || statusCode > 399 || location === undefined)
    return `The receiver answered ${statusCode}.`
  const target = URL.canParse(location, url.href) ? ` to ${new URL(location, url).host}` : ''
  return `The receiver answered ${statusCode}, a redirect${target}. Redirects are not followed.`
}

async function discard(response: IncomingMessage): Promise<void> {
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_READ_BYTES) return
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : 'The delivery failed.')

const failed = (responseStatus: number | null, error: string): DeliveryResult => ({
  ok: false,
  responseStatus,
  error: error.length > MAX_ERROR_LENGTH ? `${error.slice(0, MAX_ERROR_LENGTH - 1)}…` : error,
  isGone: responseStatus === 410,
})
