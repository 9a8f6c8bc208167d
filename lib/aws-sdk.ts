import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import { Unavailable } from './core/errors.ts'

/** All attempts of a call, with the backoff between them, fit inside a function with a timeout of 10 s. */
const MAX_ATTEMPTS = 3
const REQUEST_TIMEOUT_MS = 2_000
const CONNECTION_TIMEOUT_MS = 1_000
/** An emulator is slow when this machine is, and refuses connections when it is gone. */
const LOCAL_TIMEOUT_MS = 30_000
/** Far above what one Lambda invocation uses: a request that waits for a socket would run into the timeouts above. */
const MAX_SOCKETS = 256
/** Connections that a burst opened are closed when they are idle for this long. */
const IDLE_SOCKET_MS = 60_000

/**
 * A request handler that ends an attempt when no response, or no further part of it, arrives within `timeoutMs`.
 * https://docs.aws.amazon.com/sdk-for-javascript/v3/developer-guide/node-reusing-connections.html
 * @param options.endpoint of an emulator
 */
export function createRequestHandler(
  timeoutMs: number,
  {
    idleSocketMs = IDLE_SOCKET_MS,
    endpoint = '',
  }: { idleSocketMs?: number; endpoint?: string | undefined } = {},
): NodeHttpHandler {
  const socketPath = socketPathOf(endpoint)
  const agent = { keepAlive: true, maxSockets: MAX_SOCKETS, timeout: idleSocketMs, socketPath }
  return new NodeHttpHandler({
    httpAgent: agent,
    httpsAgent: agent,
    connectionTimeout: endpoint ? LOCAL_TIMEOUT_MS : CONNECTION_TIMEOUT_MS,
    requestTimeout: timeoutMs,
    throwOnRequestTimeout: true,
    socketTimeout: timeoutMs,
  })
}

/** Precedes the path of a Unix socket. Emulators listen on one because web pages could reach a port. */
const UNIX = 'unix:'

/** The path of the socket; undefined for an http or https endpoint. */
export const socketPathOf = (endpoint: string): string | undefined =>
  endpoint.startsWith(UNIX) ? endpoint.slice(UNIX.length) : undefined

export const toSocketEndpoint = (path: string): string => `${UNIX}${path}`

/** Shared by all clients of the process, by endpoint. Idle sockets do not keep the process running. */
const requestHandlers = new Map<string | undefined, NodeHttpHandler>()

/** For the process that runs an emulator: its clients call this function instead of the socket. */
export function handleInProcess(endpoint: string, handle: NodeHttpHandler['handle']): void {
  requestHandlers.set(endpoint, Object.assign(new NodeHttpHandler(), { handle }))
}

function requestHandlerOf(endpoint: string | undefined): NodeHttpHandler {
  const timeoutMs = endpoint ? LOCAL_TIMEOUT_MS : REQUEST_TIMEOUT_MS
  const handler = requestHandlers.get(endpoint) ?? createRequestHandler(timeoutMs, { endpoint })
  requestHandlers.set(endpoint, handler)
  return handler
}

/**
 * Settings of every AWS SDK client. Without an endpoint the SDK finds region, credentials and endpoint as usual.
 * @param endpoint of an emulator
 */
export function clientConfig(endpoint?: string) {
  const socketPath = socketPathOf(endpoint ?? '')
  return {
    requestHandler: requestHandlerOf(endpoint),
    maxAttempts: MAX_ATTEMPTS,
    // The standard mode has a retry quota: while a service is down, most calls are not retried.
    retryMode: 'standard',
    userAgentAppId: 'agent-execution-service',
    ...(endpoint && {
      endpoint: socketPath ? 'http://localhost' : endpoint,
      region: 'local',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    }),
    ...(socketPath && { signer: unsigned }),
  }
}

/**
 * The emulator behind a private socket accepts any well-formed signature; computing one takes a tenth of the CPU time
 * of a run.
 */
const unsigned = {
  async sign<Request extends { headers: Record<string, string> }>(request: Request): Promise<Request> {
    request.headers.authorization =
      'AWS4-HMAC-SHA256 Credential=local/20260101/local/local/aws4_request, SignedHeaders=host, Signature=none'
    request.headers['x-amz-date'] = '20260101T000000Z'
    return request
  },
}

/** @throws Unavailable instead of a retryable error: the SDK has used up its attempts. */
export async function orUnavailable<T>(response: Promise<T>): Promise<T> {
  try {
    return await response
  } catch (error) {
    throw isRetryable(error) ? new Unavailable(error) : error
  }
}

/** Whether the call may succeed later: throttling, a server error, a timeout, or a failed connection. */
export function isRetryable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const sdkError = error as Parameters<typeof isServerError>[0]
  return (
    sdkError.$fault === 'server' ||
    isServerError(sdkError) ||
    isThrottlingError(sdkError) ||
    isTransientError(sdkError)
  )
}
