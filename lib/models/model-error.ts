import { isJsonObject, type JsonObject } from '../core/json.ts'
import { ModelError, type ModelRequest } from '../core/model.ts'
import { quotesRequest } from './quotes-request.ts'
import { retryAfterMs } from './retry-after.ts'

/** The members of the SDK's `APICallError` that are read here. */
type ApiCallError = Error & {
  statusCode?: number
  responseHeaders?: Record<string, string>
  responseBody?: unknown
}

type Context = {
  provider: string
  secrets: string[]
  request: Pick<ModelRequest, 'instructions' | 'messages'>
  now: number
}

const MAX_DETAIL = 300
const TRANSIENT_STATUSES = new Set([408, 409, 424, 425, 429])
/** What OpenAI and Anthropic call them, also inside a response of status 200. */
const TRANSIENT_CODES = new Set([
  'server_error',
  'rate_limit_exceeded',
  'rate_limit_error',
  'overloaded_error',
  'timeout_error',
  'api_error',
])
/** A 429 that no waiting cures. */
const PERMANENT_CODES = new Set(['insufficient_quota', 'billing_hard_limit_reached'])
/** The SDK's errors for a body of status 200 that is JSON, but not the provider's. */
const UNREADABLE = new Set(['AI_InvalidResponseDataError', 'AI_TypeValidationError', 'AI_JSONParseError'])

/**
 * What went wrong, without the cause: the SDK's errors hold the whole request. Of the provider's own words only those are
 * kept that do not repeat the request; keys are blacked out.
 */
export function toModelError(error: unknown, context: Context): ModelError {
  if (error instanceof ModelError) return error
  const { provider } = context
  const failure = error instanceof Error ? error : new Error(String(error))
  const { statusCode, responseHeaders } = failure as ApiCallError
  const networkCode = networkCodeOf(failure)
  if (networkCode) {
    const what = statusCode ? 'broke off its answer' : 'could not be reached'
    return fault(`${provider} ${what} (${networkCode}).`, true)
  }
  const reported = errorIn(failure)
  if (UNREADABLE.has(failure.name) || (statusCode !== undefined && statusCode < 300 && !reported)) {
    const type = responseHeaders?.['content-type'] ?? 'no content type'
    return fault(`${provider} answered with something else than its JSON (${clean(type, context)}).`, true)
  }
  if (statusCode === undefined) {
    const isTimeout = failure.name === 'TimeoutError' || failure.name === 'AbortError'
    return fault(
      `The request to ${provider} failed: ${failure.name}${detail(failure.message, context)}`,
      isTimeout,
    )
  }
  const code = codeOf(reported, failure)
  const status = typeof reported?.code === 'number' && statusCode < 300 ? reported.code : statusCode
  const isTransient =
    (TRANSIENT_STATUSES.has(status) || status >= 500 || TRANSIENT_CODES.has(code)) &&
    !PERMANENT_CODES.has(code)
  const words = typeof reported?.message === 'string' ? reported.message : failure.message
  const id = requestIdOf(failure)
  const parts = [provider, 'answered', status, clean(code, context)].filter((part) => part !== '')
  const message = `${parts.join(' ')}${detail(words, context)}${id && ` (request ${id})`}`
  return fault(message, isTransient, isTransient ? retryAfterMs(responseHeaders, context.now) : null)
}

function fault(message: string, isTransient: boolean, wait: number | null = null): ModelError {
  return new ModelError(message, { isTransient, retryAfterMs: wait })
}

function detail(words: string, context: Context): string {
  const start = words.slice(0, 2 * MAX_DETAIL)
  if (start === '') return '.'
  if (quotesRequest(start, context.request)) return '; its message is left out because it quotes the request.'
  return `: ${clean(start, context)}`
}

function clean(text: string, { secrets }: Context): string {
  const hidden = secrets.reduce((result, secret) => result.replaceAll(secret, '[secret]'), text)
  const line = hidden.replace(/[\p{Cc}\s]+/gu, ' ').trim()
  return line.length > MAX_DETAIL ? `${line.slice(0, MAX_DETAIL)}…` : line
}

const NETWORK_CODE = /^(E[A-Z]{3,}|EAI_[A-Z]+|UND_ERR_[A-Z_]+|HPE_[A-Z_]+)$/

/** Of Node's sockets, undici or llhttp, a few causes deep; certificates, which no waiting mends, have other codes. */
function networkCodeOf(error: Error): string | null {
  for (let current: unknown = error, depth = 0; current instanceof Error && depth < 8; depth++) {
    const { code } = current as { code?: unknown }
    if (typeof code === 'string' && NETWORK_CODE.test(code)) return code
    current = current.cause
  }
  return null
}

const isToken = (value: unknown): value is string =>
  typeof value === 'string' && /^[\w.:/-]{1,80}$/.test(value)

/** The error in a body, with status 200 too: OpenAI's failed responses and OpenRouter's upstream faults come so. */
function errorIn({ responseBody }: ApiCallError): JsonObject | null {
  const body = typeof responseBody === 'string' ? parsed(responseBody) : responseBody
  return isJsonObject(body) && isJsonObject(body.error) ? body.error : null
}

function codeOf(error: JsonObject | null, { responseHeaders }: ApiCallError): string {
  const amazon = responseHeaders?.['x-amzn-errortype']?.split(':')[0]
  return [error?.code, error?.type, amazon].find(isToken) ?? ''
}

function requestIdOf({ responseHeaders: headers }: ApiCallError): string {
  return (
    [headers?.['x-request-id'], headers?.['request-id'], headers?.['x-amzn-requestid']].find(isToken) ?? ''
  )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
