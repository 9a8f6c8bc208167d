import { STATUS_CODES } from 'node:http'
import { isJsonObject, type Json } from '../../core/json/json.ts'
import { parsePartnerJson } from '../../core/json/parse-json.ts'

type Options = { code?: string; isTransient?: boolean; retryAfterMs?: number | null }

/** A remote agent did not give its output. The message is masked by who ends the run. */
export class RemoteFailure extends Error {
  override readonly name = 'RemoteFailure'
  readonly code: string
  /** The same request may succeed later. */
  readonly isTransient: boolean
  readonly retryAfterMs: number | null

  constructor(message: string, { code = 'AgentFailed', isTransient = false, retryAfterMs }: Options = {}) {
    super(message)
    this.code = code
    this.isTransient = isTransient
    this.retryAfterMs = retryAfterMs ?? null
  }
}

/** Statuses below 500 that say nothing about the request itself: a timeout, too early, and too many requests. */
const TRANSIENT = [408, 425, 429]

/** What an answer with a status other than 200 and 202 means, with the message of its body if that has one. */
export function toStatusFailure(status: number, body: string, retryAfterMs: number | null): RemoteFailure {
  const message = messageOf(parsePartnerJson(body) ?? body.trim())
  const summary = `The agent answered with HTTP ${`${status} ${STATUS_CODES[status] ?? ''}`.trimEnd()}`
  if (status >= 500 || TRANSIENT.includes(status))
    return new RemoteFailure(message ? `${summary}: ${message}` : `${summary}.`, {
      isTransient: true,
      retryAfterMs,
    })
  return new RemoteFailure(status >= 400 && message ? message : `${summary}.`)
}

/** As frameworks write it: `{ error: { message } }`, `{ message }`, `{ detail }`, or text. Empty if there is none. */
function messageOf(body: Json): string {
  if (typeof body === 'string') return body
  if (!isJsonObject(body)) return ''
  const found = [isJsonObject(body.error) ? body.error.message : body.error, body.message, body.detail]
  const [message = ''] = found.filter((each) => each !== undefined && each !== null && each !== '')
  return typeof message === 'string' ? message : JSON.stringify(message)
}

/**
 * The failure that an agent reports itself: `{ message, retryable }` of a stream, a callback or a Lambda function.
 * Frameworks also write a text.
 */
export function toReportedFailure(error: Json): RemoteFailure {
  const { message = error, retryable = false } = isJsonObject(error) ? error : {}
  const text = typeof message === 'string' && message !== '' ? message : 'The agent reported an error.'
  return new RemoteFailure(text, { isTransient: retryable === true })
}
