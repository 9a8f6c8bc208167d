import type { ClientRequest, IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import aws4 from 'aws4'
import { AwsFault, isPassing } from './aws-fault.ts'
import type { Identity } from './identity.ts'

export type AwsClient = {
  /**
   * Carries out one operation of the service. What may pass is tried again, so that an operation may be carried out more
   * often than once.
   * @throws AwsFault
   */
  call<Answer>(operation: string, input: object, signal?: AbortSignal): Promise<Answer>
  close(): void
}

type Options = {
  service: 'dynamodb' | 'sqs'
  /** Goes before an operation's name in `X-Amz-Target`. */
  targetPrefix: string
  identity: Identity
  /** Attempts in all, and milliseconds without a byte after which one has failed. */
  maxAttempts: number
  timeoutMs: number
}

/** Imported, it would load Node's fetch with it: 7 MB and 30 ms that nobody needs. */
const protocolOf = ({ protocol }: URL) =>
  protocol === 'http:' ? process.getBuiltinModule('node:http') : process.getBuiltinModule('node:https')

const FIRST_WAIT_MS = 50
const MAX_WAIT_MS = 5_000
const MAX_SOCKETS = 64

/**
 * A client of the AWS JSON 1.0 protocol, on connections that are kept: what the request path needs of AWS's SDK, in a fifth of
 * its processor time and a third of its load time (docs/decisions/0013).
 * https://smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html
 */
export function awsClient({ service, targetPrefix, identity, maxAttempts, timeoutMs }: Options): AwsClient {
  const endpoint = new URL(identity.endpointOf(service))
  const { Agent, request: send } = protocolOf(endpoint)
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS })
  // Of an IPv6 address without its brackets.
  const hostname = endpoint.hostname.replace(/^\[(.*)\]$/, '$1')

  async function attempt(operation: string, body: string, signal: AbortSignal | undefined): Promise<unknown> {
    const signed = aws4.sign(
      {
        service,
        region: identity.region,
        method: 'POST',
        path: endpoint.pathname,
        headers: {
          Host: endpoint.host,
          'Content-Type': 'application/x-amz-json-1.0',
          'X-Amz-Target': `${targetPrefix}.${operation}`,
        },
        body,
      },
      await identity.credentials(),
    )
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const request = send(
      {
        hostname,
        port: endpoint.port,
        method: 'POST',
        path: endpoint.pathname,
        headers: signed.headers as Record<string, string>,
        agent,
        timeout: timeoutMs,
        ...(signal && { signal }),
      },
      (response) => receive(response, resolve, reject),
    )
    endWith(request, body, reject)
    return promise
  }

  return {
    async call<Answer>(operation: string, input: object, signal?: AbortSignal) {
      const body = JSON.stringify(input)
      for (let tried = 1; ; tried++) {
        try {
          return (await attempt(operation, body, signal)) as Answer
        } catch (error) {
          const fault = error instanceof AwsFault ? error : AwsFault.ofConnection(error as Error)
          if (tried >= maxAttempts || signal?.aborted || !isPassing(fault)) throw fault
          // Full jitter: https://aws.amazon.com/builders-library/timeouts-retries-and-backoff-with-jitter/
          await sleep(Math.random() * Math.min(FIRST_WAIT_MS * 2 ** tried, MAX_WAIT_MS), undefined, {
            signal,
          })
        }
      }
    },
    close: () => agent.destroy(),
  }
}

function endWith(request: ClientRequest, body: string, reject: (error: Error) => void): void {
  request.once('timeout', () => request.destroy(new Error('The service did not answer in time.')))
  request.once('error', reject)
  request.end(body)
}

function receive(
  response: IncomingMessage,
  resolve: (answer: unknown) => void,
  reject: (error: Error) => void,
): void {
  const chunks: Buffer[] = []
  response.on('data', (chunk: Buffer) => chunks.push(chunk))
  response.once('error', reject)
  response.once('end', () => {
    const text = chunks.length === 1 ? String(chunks[0]) : Buffer.concat(chunks).toString()
    const { statusCode = 0, headers } = response
    try {
      if (statusCode === 200) resolve(text === '' ? {} : JSON.parse(text))
      else reject(AwsFault.ofAnswer(statusCode, text, headers['x-amzn-query-error']))
    } catch (error) {
      reject(error as Error)
    }
  })
}
