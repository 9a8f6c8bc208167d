import type { IncomingMessage } from 'node:http'
import type { DeliveryResult } from '../../core/notification.ts'
import type { EgressPolicy } from './egress-policy.ts'
import { requestOnce, toConnectionError } from './send-request.ts'

/** How much of an answer is read, to see that it was complete. The rest is not waited for. */
const MAX_READ_BYTES = 65_536

const MAX_ERROR_LENGTH = 200

type Posted = { url: string; headers: Record<string, string>; body: string | Buffer }

/**
 * Sends something to a receiver under an egress policy. Never throws. Errors contain no secret and nothing of what is
 * sent, or of the answer's body. `timeoutMs`: for everything, from the lookup of the host to the end of the answer.
 */
export async function post(
  { url: text, headers, body }: Posted,
  { timeoutMs, ...policy }: EgressPolicy & { timeoutMs: number },
): Promise<DeliveryResult & { answer?: Buffer }> {
  const signal = AbortSignal.timeout(timeoutMs)
  let status: number | null = null
  try {
    const url = new URL(text)
    const request = { method: 'POST', url, body, signal }
    const own = { 'user-agent': 'agent-execution-service', ...headers }
    const response = await requestOnce({ ...request, headers: own }, policy)
    status = response.statusCode ?? null
    const problem = findProblem(response, url)
    if (problem) {
      response.destroy()
      return failed(status, problem)
    }
    const answer = await readStart(response).catch((error: Error) => {
      throw toConnectionError(error, url)
    })
    // An answer without a length ends without an error.
    signal.throwIfAborted()
    return { ok: true, responseStatus: status, error: null, isGone: false, answer }
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

async function readStart(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    size += chunk.length
    if (size > MAX_READ_BYTES) break
  }
  return Buffer.concat(chunks)
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : 'The delivery failed.')

export const failed = (responseStatus: number | null, error: string): DeliveryResult => ({
  ok: false,
  responseStatus,
  error: error.length > MAX_ERROR_LENGTH ? `${error.slice(0, MAX_ERROR_LENGTH - 1)}…` : error,
  isGone: responseStatus === 410,
})
