/** The members of the SDK's `APICallError` that are used here. */
export type ApiCallError = Error & {
  statusCode?: number
  responseHeaders?: Record<string, string>
  responseBody?: unknown
}

/** In the code or type of a permanent error. */
const PERMANENT = /invalid|not_found|authentication|permission|bad_request|context_length|unsupported/i

/** An error that a stream reports: that of the provider, to which the SDK adds a status if it knows the code. */
export function toApiCallError(reported: unknown): ApiCallError {
  const { message = '', type, code, statusCode = toStatus(code, type) } = Object(reported)
  return Object.assign(new Error(String(message)), {
    statusCode,
    responseBody: { error: { message, type, code } },
  })
}

function toStatus(code: unknown, type: unknown): number {
  if (typeof code === 'number' && code >= 400 && code < 600) return code
  return PERMANENT.test(`${code} ${type}`) ? 400 : 500
}
