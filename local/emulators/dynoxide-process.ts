import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { hasUnpairedSurrogate, tryParseJson } from '../../lib/core/json/json.ts'

/** The answer of DynamoDB: its status, and its body as JSON text. */
export type Answer = { status: number; body: string }

export type DynoxideProcess = {
  /** Calls an operation of DynamoDB, such as `PutItem`. @throws an Error with code ECONNRESET if dynoxide has exited */
  call: (operation: string, input: object) => Promise<Answer>
  /** Resolves when it has exited. */
  exited: Promise<unknown>
  stop: () => Promise<void>
}

/** What dynoxide answers (JSON-RPC 2.0; https://modelcontextprotocol.io). */
type Message = {
  id?: number
  result?: { content?: { text: string }[]; isError?: boolean }
  error?: { message: string; type?: string }
}

const MAX_START_MS = 10_000
/** Operations run one after the other in any case: a second thread only takes turns with the first. */
const ONE_THREAD = { TOKIO_WORKER_THREADS: '1' }
const PROTOCOL_VERSION = '2025-06-18'

/**
 * Starts dynoxide without a port: over HTTP it answers every web page and accepts any signature. Its standard input and
 * output speak MCP, whose tools are the operations of DynamoDB. It exits when its standard input closes, which happens
 * however this process dies.
 * @param file where the data is stored; null to keep it in memory
 * @throws an Error with what dynoxide has written to standard error when it exits instead, or when it does not answer
 */
export async function startDynoxideProcess(
  binary: string,
  file: string | null,
  { maxStartMs = MAX_START_MS }: { maxStartMs?: number } = {},
): Promise<DynoxideProcess> {
  const args = ['mcp', ...(file ? ['--db-path', file] : [])]
  const env = { ...process.env, ...ONE_THREAD }
  const { child, exited, stop } = watchEmulator(spawn(binary, args, { stdio: 'pipe', env, ...SEPARATE }))
  const waiting = new Map<number, { resolve: (message: Message) => void; reject: (error: Error) => void }>()
  let isOpen = true
  void exited.then(() => {
    isOpen = false
    for (const { reject } of waiting.values()) reject(exitedError())
    waiting.clear()
  })
  onLine(child.stdout, (line) => {
    const message = tryParseJson(line) as Message | null | undefined
    waiting.get(message?.id ?? -1)?.resolve(message as Message)
    waiting.delete(message?.id ?? -1)
  })

  /** Each write wakes dynoxide: what this turn of the event loop sends is one. */
  const writeLine = (line: string): void => {
    if (child.stdin.writableCorked === 0) {
      child.stdin.cork()
      setImmediate(() => child.stdin.uncork())
    }
    child.stdin.write(line)
  }

  let lastId = 0
  const toLine = (message: object) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`
  const request = (method: string, params: object): Promise<Message> =>
    new Promise((resolve, reject) => {
      if (!isOpen) return reject(exitedError())
      const id = ++lastId
      const line = toLine({ id, method, params })
      if (hasUnpairedSurrogate(line)) return resolve(UNREADABLE)
      waiting.set(id, { resolve, reject })
      writeLine(line)
    })

  const clientInfo = { name: 'agent-execution-service', version: '1' }
  const initialize = { protocolVersion: PROTOCOL_VERSION, capabilities: {}, clientInfo }
  const late = setTimeout(() => child.kill('SIGKILL'), maxStartMs)
  await request('initialize', initialize).catch(async () => {
    const errors = await exited
    throw new Error(errors || `dynoxide did not answer within ${maxStartMs / 1_000} s.`)
  })
  clearTimeout(late)
  child.stdin.write(toLine({ method: 'notifications/initialized' }))
  return {
    call: async (operation, input) => toAnswer(await request('tools/call', toToolCall(operation, input))),
    exited,
    stop,
  }
}

/** A process group of its own: an interrupt from the terminal must not stop the database before the service. */
export const SEPARATE = { detached: true }

const MAX_OUTPUT_CHARACTERS = 2_000

/** A process that stops when its standard input closes. `exited` resolves with the end of its standard error. */
export function watchEmulator<Child extends ChildProcessByStdio<Writable, Readable | null, Readable>>(
  child: Child,
) {
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-MAX_OUTPUT_CHARACTERS)
  })
  // Writing to a process that has exited.
  child.stdin.on('error', () => undefined)
  const exited = new Promise<string>((resolve) => {
    child.once('error', ({ message }) => resolve(message))
    child.once('close', () => resolve(errors))
  })
  const stop = async () => {
    child.stdin.end()
    await exited
  }
  return { child, exited, stop }
}

/** Instead of dynoxide, which does not answer messages that it cannot read. */
const UNREADABLE: Message = {
  error: { type: 'SerializationException', message: 'The request contains an unpaired surrogate.' },
}

/** Not `readline`, which also splits at U+2028 and U+2029, which JSON may contain. */
function onLine(stream: Readable, listener: (line: string) => void): void {
  let parts: string[] = []
  stream.setEncoding('utf8').on('data', (text: string) => {
    const [rest = '', ...lines] = text.split('\n').reverse()
    for (const line of lines.reverse()) {
      listener(parts.join('') + line)
      parts = []
    }
    parts.push(rest)
  })
}

const exitedError = () => Object.assign(new Error('dynoxide has exited.'), { code: 'ECONNRESET' })

function toSnakeCase(name: string): string {
  const known = snakeCase.get(name)
  if (known) return known
  const converted = name.replace(/(?<!^)[A-Z]/g, '_$&').toLowerCase()
  snakeCase.set(name, converted)
  return converted
}

/** Operations, and members of their inputs: DynamoDB has a few dozen. */
const snakeCase = new Map<string, string>()

/** The tool is the operation in snake case, and so are the names of its arguments, but not those inside them. */
function toToolCall(operation: string, input: object) {
  const members: Record<string, unknown> = operation === 'DescribeTable' ? { raw: true } : {}
  for (const [name, value] of Object.entries(input)) members[toSnakeCase(name)] = value
  return { name: toSnakeCase(operation), arguments: members }
}

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html */
function toAnswer({ result, error }: Message): Answer {
  const text = result?.content?.[0]?.text ?? ''
  if (!error && !result?.isError) return { status: 200, body: text }
  const { error_type: type = error?.type ?? 'ValidationException', message = error?.message ?? text } =
    (tryParseJson(text) as { error_type?: string; message?: string } | undefined) ?? {}
  const status = type === 'InternalServerError' ? 500 : 400
  return { status, body: JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, message }) }
}
