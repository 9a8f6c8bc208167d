import { Agent, request as send } from 'node:http'

export type Call = {
  method: 'GET' | 'POST'
  url: string
  headers?: Record<string, string>
  body?: string
  /** The expected status; any other is an error. */
  status: number
}

export type Response = { headers: Record<string, string | string[] | undefined>; body: string }

/** Keep-alive for every server under test, so that no measurement includes the opening of a connection. */
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })

const TIMEOUT_MS = 120_000

/** Sends a request and reads the whole response. @throws an Error with the body for any other status */
export function call({ method, url, headers, body, status }: Call): Promise<Response> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
    const options = { method, agent, headers: { ...headers, ...length }, timeout: TIMEOUT_MS }
    const request = send(url, options, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('error', reject)
      response.on('end', () => {
        if (response.statusCode === status) resolve({ headers: response.headers, body: text })
        else
          reject(new Error(`${method} ${url} returned ${response.statusCode}, expected ${status}: ${text}`))
      })
    })
    request.on('timeout', () => request.destroy(new Error(`${method} ${url} timed out.`)))
    request.on('error', reject)
    request.end(body)
  })
}

export function closeConnections(): void {
  agent.destroy()
}
