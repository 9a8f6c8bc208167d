type Headers = Record<string, string | undefined>

/**
 * The delay that a response requests, in milliseconds: `retry-after-ms` (OpenAI), else `Retry-After` in seconds or as an
 * HTTP date (RFC 9110, section 10.2.3). Null if there is none.
 */
export function parseRetryAfter(headers: Headers | undefined, now: number): number | null {
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
