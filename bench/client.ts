import { Agent, request as send } from 'node:http'

export type Call = {
  method: 'GET' | 'POST'
  url: string
  headers?: Record<string, string>
  body?: string
  /** Any other status is an error. */
  status: number
}

export type Answer = { headers: Record<string, string | string[] | undefined>; body: string }

/** One connection for each request in flight, kept open: what is measured is not the opening of connections. */
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })

/** No call may hang: the longest one waits 25 s for an execution, or runs 500 steps. */
const LIMIT_MS = 120_000

/** Sends a request and reads the answer. @throws an Error with the body when the status is another than expected */
export function call({ method, url, headers, body, status }: Call): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
    const options = { method, agent, headers: { ...headers, ...length }, timeout: LIMIT_MS }
    const request = send(url, options, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('error', reject)
      response.on('end', () => {
        if (response.statusCode === status) resolve({ headers: response.headers, body: text })
        else reject(new Error(`${method} ${url} answered ${response.statusCode}, not ${status}: ${text}`))
      })
    })
    request.on('timeout', () => request.destroy(new Error(`${method} ${url} did not answer.`)))
    request.on('error', reject)
    request.end(body)
  })
}

/** Closes the connections that were kept open. */
export function hangUp(): void {
  agent.destroy()
}
