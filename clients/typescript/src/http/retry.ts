import type { AgentError } from '../errors.ts'

const BASE_MS = 100
const MAX_MS = 10_000

/** 504 without the code of the service comes from a proxy. */
const RETRYABLE = [408, 429, 502, 503, 504]

/** Whether the same request can succeed later. */
export function isRetryable({ code, status }: AgentError): boolean {
  if (code === 'ExecutionStillRunning') return false
  return code === 'InternalError' || code === 'ConnectionFailed' || RETRYABLE.includes(status)
}

/**
 * Exponential backoff with full jitter.
 * https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
 * @param failures in a row, from 0
 */
export const backoffMs = (failures: number): number =>
  Math.random() * Math.min(MAX_MS, BASE_MS * 2 ** failures)

/** `Retry-After` in milliseconds: seconds or a date (RFC 9110, section 10.2.3), on the clock of the server if it is sent. */
export function readRetryAfter(headers: Headers): number | undefined {
  const text = headers.get('Retry-After')
  if (!text) return undefined
  const date = Date.parse(headers.get('Date') ?? '') || Date.now()
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - date
  return Number.isNaN(ms) ? undefined : Math.max(ms, 0)
}
