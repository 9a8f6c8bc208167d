/** Runs in an agent thread, and loads nothing but Node: it executes one run per task, and reports to its worker. */
import { setSourceMapsSupport } from 'node:module'
import { constants, setPriority } from 'node:os'
import { inspect, promisify } from 'node:util'
import type { MessagePort } from 'node:worker_threads'
import { MAX_PAYLOAD_BYTES } from '../../core/limits.ts'
import type { RunResult, ThreadError, ThreadMessage, ThreadTask, WorkerMessage } from './protocol.ts'
import { captureConsole } from './thread-console.ts'
import { watchThread } from './thread-state.ts'

type Run = (input: unknown, context: object) => unknown

/** Taken before an agent can replace `setImmediate`. */
const nextTurn = promisify(setImmediate)

setSourceMapsSupport(true, { nodeModules: true, generatedCode: false })

delete process.env.NODE_COMPILE_CACHE
/**
 * Linux applies this to the calling thread only (setpriority(2), NOTES): an agent that computes must not take processor
 * time from its worker's event loop. Elsewhere it would apply to the whole process.
 */
if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL)

let agent: Promise<Run> | undefined
let watch: ReturnType<typeof watchThread> | undefined
let port: MessagePort | undefined
let abort = new AbortController()
let hasCrashed = false
/** Steps that wait for the worker, by id. Ids are unique in the thread. */
const waiting = new Map<number, () => void>()
let lastId = 0

const post = (message: ThreadMessage) => port?.postMessage(message)
const takeLogs = captureConsole((text) => post({ type: 'log', text }))

/** Opens the way to the worker, before the first run. */
export function connect(opened: MessagePort): void {
  port = opened
  port.on('message', (message: WorkerMessage) => {
    if (message.type === 'abort') return abort.abort()
    waiting.get(message.id)?.()
    waiting.delete(message.id)
  })
}

/** In a thread, `process.exit` would end the thread without a report. */
process.exit = ((code?: number | string | null) => {
  crash(new Error(`The agent called process.exit(${code ?? ''}).`))
  throw new Error('process.exit is not available to agents.')
}) as typeof process.exit

process.on('uncaughtException', crash)

function crash(error: unknown): void {
  hasCrashed = true
  postLogs()
  post({ type: 'crashed', error: describe(error) })
}

function postLogs(): void {
  const text = takeLogs()
  if (text) post({ type: 'log', text })
}

/** Whether the run left the thread as it found it. The worker has the result before that is checked. */
export default async function execute(task: ThreadTask): Promise<boolean> {
  if (!port) throw new Error('The thread is not connected to its worker.')
  abort = new AbortController()
  const { step, close } = openSteps(task)
  const result = await run(task, { signal: abort.signal, step })
  // Node reports unhandled rejections and exceptions of the agent first.
  await nextTurn()
  close()
  postLogs()
  post({ type: 'result', result })
  return result.type === 'returned' && !hasCrashed && (watch?.isClean() ?? false)
}

async function run(task: ThreadTask, context: object): Promise<RunResult> {
  try {
    agent ??= load(task.codeFile)
    const call = await agent
    watch ??= watchThread()
    const { executionId, tenantId } = task
    return toResult(await call(JSON.parse(task.input), { executionId, tenantId, ...context }))
  } catch (error) {
    return { type: 'failed', error: describe(error) }
  }
}

async function load(file: string): Promise<Run> {
  const module: { default?: unknown } = await import(file).catch((cause: unknown) => {
    const error = new Error(`agent.ts cannot be loaded: ${describe(cause).message}`)
    error.stack = describe(cause).stack ?? ''
    throw error
  })
  if (typeof module.default !== 'function') throw new Error('agent.ts does not default-export a function.')
  return module.default as Run
}

/** The steps of one run. A step that is still going on when the run ends never settles: nobody stores it. */
function openSteps({ storedSteps }: ThreadTask) {
  const stored = new Map(storedSteps)
  const used = new Set<string>()
  let isOver = false
  const request = (id: number, message: ThreadMessage) =>
    new Promise<void>((resolve) => {
      if (isOver) return
      waiting.set(id, resolve)
      post(message)
    })

  async function step(name: string, compute: () => unknown): Promise<unknown> {
    if (typeof name !== 'string' || name === '')
      throw new TypeError('A step name must be a non-empty string.')
    if (used.has(name))
      throw new Error(`The step name "${name}" is used twice in this run; step names must be unique.`)
    used.add(name)
    const known = stored.get(name)
    if (known !== undefined) return JSON.parse(known)
    const id = ++lastId
    await request(id, { type: 'step', id, name })
    const startedAt = Date.now()
    const json = JSON.stringify((await compute()) ?? null)
    await request(id, { type: 'step-result', id, name, json, startedAt })
    return JSON.parse(json)
  }
  const close = () => {
    isOver = true
    waiting.clear()
  }
  return { step, close }
}

/** Serialized here, so that a value of any size, or with a slow `toJSON`, does not block the worker. */
function toResult(returned: unknown): RunResult {
  let json: string | undefined
  try {
    json = JSON.stringify(returned)
  } catch (error) {
    const message = `The output cannot be serialized as JSON: ${describe(error).message}`
    return { type: 'invalid', code: 'OutputSchemaMismatch', message }
  }
  if (json === undefined)
    return { type: 'invalid', code: 'OutputSchemaMismatch', message: 'The output must be a JSON object.' }
  const bytes = json.length > MAX_PAYLOAD_BYTES ? json.length : Buffer.byteLength(json)
  if (bytes <= MAX_PAYLOAD_BYTES) return { type: 'returned', json }
  const message = `The output has ${bytes} bytes; the limit is ${MAX_PAYLOAD_BYTES}.`
  return { type: 'invalid', code: 'OutputTooLarge', message }
}

const MAX_TEXT = 4_000

function describe(error: unknown): ThreadError {
  if (!(error instanceof Error)) {
    const text = typeof error === 'string' ? error : inspect(error)
    return { message: text.slice(0, MAX_TEXT), stack: null }
  }
  return {
    message: String(error.message).slice(0, MAX_TEXT),
    stack: framesIn(error),
  }
}

/** Without the message, which may be of any length. */
const framesIn = ({ stack }: Error): string =>
  String(stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .join('\n')
    .slice(0, MAX_TEXT)
