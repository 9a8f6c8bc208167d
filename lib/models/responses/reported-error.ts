import { isJsonObject, type Json, type JsonObject, tryParseJson } from '../../core/json/json.ts'

/**
 * A successful response that reports an error, or that has another format than was requested. Has the members of the
 * SDK's `APICallError` that explain it.
 */
export class ResponseError extends Error {
  override readonly name = 'ResponseError'
  readonly statusCode: number
  readonly responseHeaders: Record<string, string>
  readonly responseBody: string

  constructor({ status, headers }: Response, body: string) {
    super('')
    this.statusCode = status
    this.responseHeaders = Object.fromEntries(headers)
    this.responseBody = body
  }
}

/** A stream that ended before its response did. */
export class IncompleteStreamError extends Error {
  override readonly name = 'IncompleteStreamError'
}

/** What a body or a frame says about an error. `codes`: whatever names its kind, the innermost first. */
export type Reported = { message: string; codes: unknown[] }

/** Whether a frame can be nothing else than an error. Many servers send `error: null` with each frame. */
export const isErrorFrame = ({ error, object, type }: JsonObject): boolean =>
  [object, type].includes('error') ||
  type === 'response.failed' ||
  error === true ||
  Object.values(Object(error ?? {})).some(Boolean)

/** The error in a body, whatever its shape; null if it reports none. */
export function findReported(body: unknown): Reported | null {
  const value = typeof body === 'string' ? (tryParseJson(body) ?? toPlainText(body)) : body
  return find(value as Json)
}

const MESSAGES = [
  'message',
  'msg',
  'Message',
  'error_message',
  'error_description',
  'detail',
  'title',
  'error',
]
const CODES = ['code', 'type', 'status', 'status_code', 'statusCode', '__type', 'error']
const MAX_DEPTH = 5
const MAX_ITEMS = 5

function find(value: Json | undefined, depth = 0): Reported | null {
  if (typeof value === 'string') return value.trim() === '' ? null : { message: value, codes: [] }
  if (Array.isArray(value)) {
    const found = value.slice(0, MAX_ITEMS).flatMap((item) => find(item, depth + 1) ?? [])
    const message = found.map((each) => each.message).join('; ')
    return found[0] ? { message, codes: found[0].codes } : null
  }
  if (!isJsonObject(value) || depth > MAX_DEPTH) return null
  const codes = CODES.map((name) => value[name])
  const nested = (...names: string[]) =>
    names.map((name) => typeof value[name] === 'object' && find(value[name], depth + 1)).find(Boolean) || null
  const text = MESSAGES.map((name) => value[name]).find((each) => typeof each === 'string' && each !== '')
  const own = text ? { message: `${toPlace(value.loc)}${text}`, codes: [] } : null
  const found = nested('error', 'response') ?? own ?? nested('detail', 'errors', 'message')
  return found && { message: found.message, codes: [...found.codes, ...codes] }
}

/** Where FastAPI found a problem. */
const toPlace = (loc: Json | undefined): string => (Array.isArray(loc) ? `${loc.join('.')}: ` : '')

const MAX_CHARACTERS = 20_000

/** The text of an error page. */
const toPlainText = (text: string): string =>
  /^\s*</.test(text)
    ? text
        .slice(0, MAX_CHARACTERS)
        .replace(/<(script|style)\b[\s\S]*?<\/\1>|<[^>]*>/gi, ' ')
        .trim()
    : text

/**
 * The delay that a response requests, in milliseconds: `retry-after-ms` (OpenAI), else `Retry-After` in seconds or as
 * an HTTP date (RFC 9110, section 10.2.3). Null if there is none.
 */
export function parseRetryAfter(
  headers: Record<string, string | undefined> | undefined,
  now: number,
): number | null {
  const milliseconds = parseNumber(headers?.['retry-after-ms'])
  if (milliseconds !== null) return milliseconds
  const header = headers?.['retry-after']?.trim()
  const seconds = parseNumber(header)
  if (seconds !== null) return seconds * 1000
  const date = header && /[a-z]/i.test(header) ? Date.parse(header) : Number.NaN
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

function parseNumber(text: string | undefined): number | null {
  return text !== undefined && /^\s*\d{1,12}(\.\d{1,12})?\s*$/.test(text) ? Number(text) : null
}

/** The members of the SDK's `APICallError` that are used here. */
export type ApiCallError = Error & {
  statusCode?: number
  responseHeaders?: Record<string, string>
  responseBody?: unknown
}

/** The error in the body of a response. Servers report some with status 200, but not as plain text. */
export function reportedBy({ statusCode = 0, responseBody }: ApiCallError): Reported | null {
  const isText = typeof responseBody === 'string' && tryParseJson(responseBody) === undefined
  return statusCode < 300 && isText ? null : findReported(responseBody)
}

/** The status that a successful response reports, if any; else its own. */
export function statusOf(failure: ApiCallError): number {
  const { statusCode = 0 } = failure
  if (statusCode >= 300) return statusCode
  const codes = reportedBy(failure)?.codes.map(Number) ?? []
  return codes.find((code) => code >= 400 && code < 600) ?? statusCode
}

export function getCode(reported: Reported | null, { responseHeaders }: ApiCallError): string {
  const amazonType = responseHeaders?.['x-amzn-errortype']?.split(':')[0]
  return [...(reported?.codes ?? []), amazonType].find(isCode) ?? ''
}

export const isCode = (value: unknown): value is string =>
  isIdentifier(value) && /[a-z]/i.test(value) && value !== 'error'

export function getRequestId({ responseHeaders: headers }: ApiCallError): string {
  const ids = [headers?.['x-request-id'], headers?.['request-id'], headers?.['x-amzn-requestid']]
  return ids.find(isIdentifier) ?? ''
}

const isIdentifier = (value: unknown): value is string =>
  typeof value === 'string' && /^[\w.:/-]{1,80}$/.test(value)
