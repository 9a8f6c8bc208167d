import { ModelError, type ModelRequest } from '../../core/model.ts'
import { redact, redactDetail } from './redact.ts'
import {
  type ApiCallError,
  findReported,
  getCode,
  getRequestId,
  IncompleteStreamError,
  isCode,
  parseRetryAfter,
  ResponseError,
  reportedBy,
  statusOf,
} from './reported-error.ts'

type Context = {
  provider: string
  secrets: string[]
  request: Pick<ModelRequest, 'instructions' | 'messages'>
  /** Whether the response had started. */
  hasBegun: boolean
  now: number
}

const TRANSIENT_STATUSES = new Set([408, 409, 424, 425, 429])
/** Codes of transient errors at OpenAI and Anthropic. They also occur in responses with status 200. */
const TRANSIENT_CODES = new Set([
  'server_error',
  'rate_limit_exceeded',
  'rate_limit_error',
  'overloaded_error',
  'timeout_error',
  'api_error',
])
/** Codes of status 429 that a retry does not resolve. */
const PERMANENT_CODES = new Set(['insufficient_quota', 'billing_hard_limit_reached'])
/** Errors of the SDK for a response, or a part of it, that does not have the provider's format. */
const INVALID_RESPONSE = new Set(['AI_TypeValidationError', 'AI_JSONParseError'])
/** The second is the error of the SDK for a stream without a finish reason. */
const INCOMPLETE_RESPONSE = new Set(['IncompleteStreamError', 'AI_InvalidResponseDataError'])
/** Codes of content filters at OpenAI and Azure. */
const REFUSAL_CODES = new Set(['content_filter', 'content_policy_violation'])
/** In the codes of a permanent error that a successful response reports; in its message if it has no code. */
const PERMANENT =
  /invalid|not.?found|auth(enti|ori)|permission|denied|forbidden|bad.?request|context.?(length|window)|unsupported|unprocessable|validation|too.?large|quota|billing|content.?(filter|policy)/i
/** In the errors of providers and servers for a request that exceeds the context window. */
const OVERFLOW =
  /context.?(length|window|size)|(prompt|inputs?|request|sequence)\b.{0,40}(too (long|large)|exceed|(long|great|larg)er than)|(maximum|max).{0,20}(context|prompt|input|model).?length|too large for model|number of tokens to keep|too many (input |prompt )?tokens|inputs?\W.{0,40}must (be <|have less)|range of input length|max_(completion_)?tokens must be at least 1|reduce the length/i
/** A limit of tokens per minute, not of a request. */
const RATE = /per minute|per day|TPM|rate.?limit|quota|throttl/i
/** In the error of a server that rejects a request for its `response_format`. */
const RESPONSE_FORMAT = /response.?format|output.?(format|config)|schema|grammar|structured|guided/i
/** In that of one that rejects a strict tool. */
const STRICT_SCHEMA = /strict|schema|grammar/i
/** Errors of Node.js sockets and llhttp. Certificate errors, which are permanent, have other codes. */
const NETWORK_CODE = /^(E[A-Z]{3,}|EAI_[A-Z]+|HPE_[A-Z_]+)$/

/**
 * Converts an error of the AI SDK. Secrets are masked, and the provider's message is omitted if it quotes the request.
 * The error has no cause, because the SDK's errors contain the complete request.
 */
export function toModelError(error: unknown, context: Context): ModelError {
  if (error instanceof ModelError) return error
  const failure: ApiCallError = error instanceof Error ? error : new Error(String(error))
  return (
    toNetworkError(failure, context) ??
    toInvalidResponseError(failure, context) ??
    (failure.statusCode === undefined ? toRequestError(failure, context) : toStatusError(failure, context))
  )
}

/** The error that the reader of a response has thrown, which the SDK wraps; else the error itself. */
export function findResponseError(error: unknown): unknown {
  for (let each = error; each instanceof Error; each = each.cause)
    if (each instanceof ResponseError || each instanceof IncompleteStreamError) return each
  return error
}

/** Whether a successful response was lost of which the model has generated a part. */
export const isLost = (error: unknown, response: { hasBegun: boolean; received: string }): boolean =>
  error instanceof ResponseError
    ? response.received !== ''
    : response.hasBegun ||
      error instanceof IncompleteStreamError ||
      (error instanceof Error && isUnexplained(error))

/** Whether a server rejected a request for its `response_format`: it does not know it, or cannot enforce the schema. */
export function rejectsResponseFormat(error: unknown): boolean {
  const { responseBody } = Object(error)
  return statusOf(Object(error)) >= 400 && RESPONSE_FORMAT.test(JSON.stringify(responseBody ?? ''))
}

/** Whether a server rejected a request because it cannot enforce the schema of a tool. */
export function rejectsStrictSchema(error: unknown): boolean {
  const { responseBody } = Object(error)
  const isRejected = [400, 422].includes(statusOf(Object(error)))
  return isRejected && STRICT_SCHEMA.test(JSON.stringify(responseBody ?? ''))
}

/** No server was reached. */
const UNREACHABLE = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])

function toNetworkError(failure: ApiCallError, { provider, hasBegun, secrets }: Context): ModelError | null {
  const found = findNetworkError(failure)
  if (!found) return null
  const { code, url } = found
  const message =
    failure.statusCode || hasBegun
      ? `The connection to ${provider} was lost during the response`
      : `Could not connect to ${provider}${url ? ` at ${redact(url, secrets)}` : ''}`
  return new ModelError(`${message} (${code}).`, { isTransient: true, isUnreachable: UNREACHABLE.has(code) })
}

function toInvalidResponseError(failure: ApiCallError, context: Context): ModelError | null {
  const { provider, secrets } = context
  const { responseHeaders } = failure
  if (INCOMPLETE_RESPONSE.has(failure.name))
    return new ModelError(`${provider} ended its response early.`, { isTransient: true })
  if (!INVALID_RESPONSE.has(failure.name) && !isUnexplained(failure)) return null
  const type =
    responseHeaders && ` (content type ${redact(responseHeaders['content-type'] ?? 'none', secrets)})`
  const summary = `${provider} returned a response in an unknown format${type ?? ''}`
  const page = /^\s*</.test(`${failure.responseBody}`) ? findReported(failure.responseBody) : null
  return new ModelError(`${summary}${formatDetail(page?.message ?? '', context)}`, { isTransient: true })
}

/** A failure with the status of a success, in which no error is reported. */
const isUnexplained = (failure: ApiCallError): boolean =>
  failure.statusCode !== undefined && failure.statusCode < 300 && !reportedBy(failure)

/** For errors without a status: of the request, or of a part of the response that the SDK cannot read. */
function toRequestError(failure: ApiCallError, context: Context): ModelError {
  const { provider, hasBegun } = context
  const isTransient = hasBegun || failure.name === 'TimeoutError' || failure.name === 'AbortError'
  const summary = hasBegun ? `The response of ${provider} is unreadable` : `The request to ${provider} failed`
  return new ModelError(`${summary}: ${failure.name}${formatDetail(failure.message, context)}`, {
    isTransient,
  })
}

function toStatusError(failure: ApiCallError, context: Context): ModelError {
  const { responseHeaders } = failure
  const reported = reportedBy(failure)
  const code = getCode(reported, failure)
  const status = statusOf(failure)
  const detail = reported?.message ?? failure.message
  const isOverflow = status !== 429 && OVERFLOW.test(`${code} ${detail}`) && !RATE.test(`${code} ${detail}`)
  const isPassing =
    status < 300
      ? !PERMANENT.test(reported?.codes.filter(isCode).join(' ') || detail)
      : TRANSIENT_STATUSES.has(status) || status >= 500 || TRANSIENT_CODES.has(code)
  const isTransient = !isOverflow && isPassing && !PERMANENT_CODES.has(code)
  const id = getRequestId(failure)
  const parts = [context.provider, 'returned HTTP', status, redact(code, context.secrets)]
  const summary = parts.filter((part) => part !== '').join(' ')
  return new ModelError(`${summary}${formatDetail(detail, context)}${id && ` (request ${id})`}`, {
    isTransient,
    isRefusal: REFUSAL_CODES.has(code),
    isOverflow,
    retryAfterMs: isTransient ? parseRetryAfter(responseHeaders, context.now) : null,
  })
}

function formatDetail(text: string, { secrets, request }: Context): string {
  if (text === '') return '.'
  const detail = redactDetail(text, secrets, request)
  return detail === null ? '. The message was omitted because it quotes the request.' : `: ${detail}`
}

/** Searches the error and its causes. */
function findNetworkError(error: Error): { code: string; url?: string } | null {
  for (let current: unknown = error, depth = 0; current instanceof Error && depth < 8; depth++) {
    const { code, url } = current as { code?: unknown; url?: string }
    if (typeof code === 'string' && NETWORK_CODE.test(code)) return { code, ...(url && { url }) }
    current = current.cause
  }
  return null
}
