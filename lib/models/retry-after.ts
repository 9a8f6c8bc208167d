type Headers = Record<string, string | undefined>

/**
 * Milliseconds that a response asks to wait: `retry-after-ms` (OpenAI), else `Retry-After` in seconds or as an HTTP date
 * (RFC 9110, section 10.2.3). Null when it does not say.
 */
export function retryAfterMs(headers: Headers | undefined, now: number): number | null {
  const milliseconds = toNumber(headers?.['retry-after-ms'])
  if (milliseconds !== null) return milliseconds
  const header = headers?.['retry-after']?.trim()
  const seconds = toNumber(header)
  if (seconds !== null) return seconds * 1000
  const date = header && /[a-z]/i.test(header) ? Date.parse(header) : Number.NaN
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

function toNumber(text: string | undefined): number | null {
  return text !== undefined && /^\s*\d{1,12}(\.\d{1,12})?\s*$/.test(text) ? Number(text) : null
}
