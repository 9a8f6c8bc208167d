/**
 * The main program of a function's process: an equivalent of AWS's runtime interface client for Node.js
 * (aws-lambda-ric), which needs a native build and so is not installed here. Nothing of it is AWS's code.
 *
 * Imitated: `_HANDLER` and `LAMBDA_TASK_ROOT`; the global `awslambda`, there before the handler is imported; one
 * invocation at a time over one connection; the context; buffered and streamed answers, these by the mark that
 * `streamifyResponse` leaves on a handler, with their prelude at the first `write` (an `end` without one sends none) and
 * their error as trailers; errors as errorType, errorMessage and trace; a fault outside of an invocation told to
 * `init/error`, before the process exits; callback handlers refused, as from Node 24 on.
 *
 * Not imitated: the patched console, X-Ray, the invoke store, concurrent invocations, handlers in CommonJS or in nested
 * modules, a stream's highWaterMark, and that Lambda freezes a process between invocations.
 */
import { Agent, type ClientRequest, type IncomingMessage, type RequestOptions, request } from 'node:http'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { requireEnv } from '../../lib/environment.ts'

type Handler = (...parameters: unknown[]) => unknown
type ResponseStream = ClientRequest & { setContentType: (contentType: string) => void }

const STREAMING = Symbol.for('aws.lambda.runtime.handler.streaming')
const BASE = '/2018-06-01/runtime'
const [hostname, port] = requireEnv('AWS_LAMBDA_RUNTIME_API').split(':')
const agent = new Agent({ keepAlive: true, maxSockets: 1 })

/** What goes out before anything else of a stream. */
const preludes = new WeakMap<object, string>()

Object.assign(globalThis, {
  awslambda: {
    streamifyResponse: (handler: Handler) => Object.assign(handler, { [STREAMING]: 'response' }),
    HttpResponseStream: {
      from(stream: ResponseStream, prelude: unknown) {
        stream.setContentType('application/vnd.awslambda.http-integration-response')
        preludes.set(stream, JSON.stringify(prelude))
        return stream
      },
    },
  },
})

const leave = (code: number) => async (error: unknown) => {
  console.error(error)
  const body = JSON.stringify(faultOf(error))
  await send(`${BASE}/init/error`, body).catch(() => undefined)
  process.exit(code)
}
process.on('uncaughtException', leave(129))
process.on('unhandledRejection', leave(128))

// Not AWS's: this process ends with the one that holds its standard input, however that dies and whatever a handler does.
process.stdin.on('end', () => process.exit(129)).resume()
process.stdin.unref()

const handler = await loadHandler().catch(leave(1))
while (true) {
  const { headers, text } = await get(`${BASE}/invocation/next`)
  const id = String(headers['lambda-runtime-aws-request-id'])
  const invocation = { id, event: JSON.parse(text), context: contextOf(headers) }
  await (STREAMING in handler ? stream(handler, invocation) : buffer(handler, invocation))
}

async function loadHandler(): Promise<Handler> {
  const [module, name = ''] = requireEnv('_HANDLER').split('.')
  const file = join(requireEnv('LAMBDA_TASK_ROOT'), `${module}.mjs`)
  const found = (await import(pathToFileURL(file).href))[name]
  if (typeof found !== 'function') throw named('Runtime.HandlerNotFound', `${file} exports no ${name}.`)
  if (!(STREAMING in found) && found.length > 2)
    throw named('Runtime.CallbackHandlerDeprecated', `${name} takes a callback, which Node 24 does not call.`)
  return found
}

function contextOf(headers: IncomingMessage['headers']) {
  const deadline = Number(headers['lambda-runtime-deadline-ms'])
  return {
    awsRequestId: headers['lambda-runtime-aws-request-id'],
    invokedFunctionArn: headers['lambda-runtime-invoked-function-arn'],
    functionName: process.env.AWS_LAMBDA_FUNCTION_NAME,
    functionVersion: process.env.AWS_LAMBDA_FUNCTION_VERSION,
    memoryLimitInMB: process.env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
    logGroupName: process.env.AWS_LAMBDA_LOG_GROUP_NAME,
    logStreamName: process.env.AWS_LAMBDA_LOG_STREAM_NAME,
    getRemainingTimeInMillis: () => deadline - Date.now(),
  }
}

type Invocation = { id: string; event: unknown; context: object }

async function buffer(inner: Handler, { id, event, context }: Invocation): Promise<void> {
  let answer: { kind: string; body: string }
  try {
    answer = { kind: 'response', body: JSON.stringify(await inner(event, context)) ?? 'null' }
  } catch (error) {
    answer = { kind: 'error', body: JSON.stringify(faultOf(error)) }
  }
  await send(`${BASE}/invocation/${id}/${answer.kind}`, answer.body)
}

async function stream(inner: Handler, { id, event, context }: Invocation): Promise<void> {
  const { response, accepted } = openStream(`${BASE}/invocation/${id}/response`)
  try {
    await inner(event, response, context)
  } catch (error) {
    const fault = faultOf(error)
    response.addTrailers({
      'Lambda-Runtime-Function-Error-Type': fault.errorType,
      'Lambda-Runtime-Function-Error-Body': Buffer.from(JSON.stringify(fault)).toString('base64'),
    })
    response.end()
  }
  await accepted
}

function openStream(path: string): { response: ResponseStream; accepted: Promise<unknown> } {
  const { outgoing, answer } = open(path, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/octet-stream',
      'Lambda-Runtime-Function-Response-Mode': 'streaming',
      'Transfer-Encoding': 'chunked',
      Trailer: 'Lambda-Runtime-Function-Error-Type, Lambda-Runtime-Function-Error-Body',
    },
  })
  const write = outgoing.write.bind(outgoing) as (...parameters: unknown[]) => boolean
  let isBegun = false
  const response = Object.assign(outgoing, {
    setContentType: (contentType: string) => void outgoing.setHeader('Content-Type', contentType),
    write(...parameters: unknown[]) {
      const prelude = preludes.get(response)
      if (!isBegun && prelude !== undefined) {
        write(prelude)
        write(Buffer.alloc(8))
      }
      isBegun = true
      return write(...parameters)
    },
  })
  return { response, accepted: answer }
}

/** @throws an Error unless the Runtime API accepts it */
async function send(path: string, body: string): Promise<void> {
  const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }
  const { outgoing, answer } = open(path, { method: 'POST', headers })
  outgoing.end(body)
  await answer
}

function get(path: string) {
  const { outgoing, answer } = open(path, { method: 'GET' })
  outgoing.end()
  return answer
}

function open(path: string, options: RequestOptions) {
  const outgoing = request({ hostname, port, path, agent, ...options })
  const answer = new Promise<{ headers: IncomingMessage['headers']; text: string }>((resolve, reject) => {
    outgoing.once('error', reject)
    outgoing.once('response', async (incoming) => {
      const text = Buffer.concat(await incoming.toArray()).toString()
      if (incoming.statusCode === 200 || incoming.statusCode === 202)
        resolve({ headers: incoming.headers, text })
      else reject(new Error(`The Runtime API answered ${incoming.statusCode} to ${path}: ${text}`))
    })
  })
  return { outgoing, answer }
}

function faultOf(error: unknown) {
  if (!(error instanceof Error)) return { errorType: typeof error, errorMessage: String(error), trace: [] }
  return { errorType: error.name, errorMessage: error.message, trace: error.stack?.split('\n') ?? [] }
}

function named(name: string, message: string): Error {
  return Object.assign(new Error(message), { name })
}
