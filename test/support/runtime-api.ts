import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const BASE = '/2018-06-01/runtime'
const ERROR_TYPE = 'lambda-runtime-function-error-type'
const ERROR_BODY = 'lambda-runtime-function-error-body'
/** Between the prelude and the body of an HTTP response that is streamed. */
const DELIMITER = Buffer.alloc(8)

/** Of a streamed response that API Gateway makes an HTTP response of: a prelude of status and headers, then the body. */
export const HTTP_INTEGRATION = 'application/vnd.awslambda.http-integration-response'

export type Fault = { errorType: string; errorMessage: string; trace: string[] }

/** What came of an invocation. A stream that breaks off has a fault as well as what was sent until then. */
export type Outcome =
  | { mode: 'buffered'; payload: ReturnType<typeof JSON.parse> }
  | { mode: 'streamed'; contentType: string; prelude: unknown; body: string; fault: Fault | null }
  | { mode: 'failed'; fault: Fault }

type Invocation = { id: string; event: string; deadline: number; resolve: (outcome: Outcome) => void }

export type RuntimeApi = {
  /** `host:port`, as the runtime finds it in AWS_LAMBDA_RUNTIME_API. */
  address: string
  /** Hands an event to the function, which has so many milliseconds for it. Does not end unless the function answers. */
  invoke: (event: unknown, timeoutMs: number) => Promise<Outcome>
  /** What the function reported as broken, outside of any invocation. */
  initFault: Promise<Fault>
  stop: () => Promise<void>
}

/**
 * The Runtime API of one execution environment: what a Lambda function asks for its events and gives its answers to.
 * It is as strict as Lambda's: an answer to what is not in work is refused.
 * https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
 */
export async function startRuntimeApi(functionArn: string): Promise<RuntimeApi> {
  const queued: Invocation[] = []
  const inWork = new Map<string, Invocation>()
  const asking: ServerResponse[] = []
  const initFault = Promise.withResolvers<Fault>()

  const handOut = () => {
    const [invocation, response] = [queued[0], asking[0]]
    if (!invocation || !response) return
    queued.shift()
    asking.shift()
    inWork.set(invocation.id, invocation)
    response.writeHead(200, {
      'Content-Type': 'application/json',
      'Lambda-Runtime-Aws-Request-Id': invocation.id,
      'Lambda-Runtime-Deadline-Ms': String(invocation.deadline),
      'Lambda-Runtime-Invoked-Function-Arn': functionArn,
    })
    response.end(invocation.event)
  }

  const server = createServer(async (request, response) => {
    const path = request.url ?? ''
    if (request.method === 'GET' && path === `${BASE}/invocation/next`) {
      asking.push(response)
      return handOut()
    }
    const bytes = Buffer.concat(await request.toArray().catch(() => []))
    // What was cut off is no answer: whoever waits for one learns that the process is gone.
    if (!request.complete) return
    if (path === `${BASE}/init/error`) initFault.resolve(JSON.parse(bytes.toString()))
    else {
      const [, id = '', kind] =
        /^\/2018-06-01\/runtime\/invocation\/([^/]+)\/(response|error)$/.exec(path) ?? []
      const invocation = inWork.get(id)
      if (!invocation) return refuse(response, `${request.method} ${path} is not in work.`)
      inWork.delete(id)
      invocation.resolve(kind === 'error' ? failed(bytes) : orInvalid(() => answered(request, bytes)))
    }
    response.writeHead(202, { 'Content-Type': 'application/json' }).end('{"status":"OK"}')
  })
  // A function may work for longer than a connection may idle.
  server.keepAliveTimeout = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    invoke: (event, timeoutMs) =>
      new Promise((resolve) => {
        const deadline = Date.now() + timeoutMs
        queued.push({ id: randomUUID(), event: JSON.stringify(event), deadline, resolve })
        handOut()
      }),
    initFault: initFault.promise,
    stop: () => stop(server),
  }
}

function refuse(response: ServerResponse, errorMessage: string): void {
  response.writeHead(400, { 'Content-Type': 'application/json' })
  response.end(JSON.stringify({ errorType: 'InvalidRequestID', errorMessage }))
}

/** An answer that is not what it says it is, such as no JSON, is the function's fault. */
function orInvalid(read: () => Outcome): Outcome {
  try {
    return read()
  } catch (error) {
    return {
      mode: 'failed',
      fault: { errorType: 'Runtime.InvalidResponse', errorMessage: String(error), trace: [] },
    }
  }
}

const failed = (bytes: Buffer): Outcome => ({ mode: 'failed', fault: JSON.parse(bytes.toString()) })

function answered({ headers, trailers }: IncomingMessage, bytes: Buffer): Outcome {
  if (headers['lambda-runtime-function-response-mode'] !== 'streaming')
    return { mode: 'buffered', payload: JSON.parse(bytes.toString()) }
  const contentType = headers['content-type'] ?? ''
  const fault = trailers[ERROR_TYPE] === undefined ? null : faultOf(trailers[ERROR_BODY])
  const end = contentType === HTTP_INTEGRATION ? bytes.indexOf(DELIMITER) : -1
  const prelude = end < 0 ? null : JSON.parse(bytes.subarray(0, end).toString())
  const body = bytes.subarray(end < 0 ? 0 : end + DELIMITER.length).toString()
  return { mode: 'streamed', contentType, prelude, body, fault }
}

const faultOf = (base64 = ''): Fault => JSON.parse(Buffer.from(base64, 'base64').toString())

function stop(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}
