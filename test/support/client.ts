/** A response with its body read: the text, and the JSON when it is JSON. */
export type Answer = { status: number; headers: Headers; text: string; json: ReturnType<typeof JSON.parse> }

export type CallOptions = { body?: unknown; raw?: string | Uint8Array; headers?: Record<string, string> }

export type Call = (method: string, path: string, options?: CallOptions) => Promise<Answer>

/** Calls a service with a token; `raw` is sent as it is, `body` as JSON. No call may hang: 20 seconds at most. */
export function clientOf(url: string, token: string | null): Call {
  return async (method, path, { body, raw, headers = {} } = {}) => {
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body))
    const response = await fetch(`${url}${path}`, {
      method,
      signal: AbortSignal.timeout(20_000),
      headers: {
        ...(token !== null && { Authorization: `Bearer ${token}` }),
        ...(payload !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(payload !== undefined && { body: payload as string }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, json: jsonOf(text) }
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
