/** Runs in an agent thread, and loads nothing but Node: it executes one run at a time, and reports to its worker. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setSourceMapsSupport, syncBuiltinESMExports } from 'node:module'
import { constants, setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { parentPort, workerData } from 'node:worker_threads'
import { describe } from './errors.ts'
import { captureConsole, guardProcess, openLog } from './guards.ts'
import { isolate } from './isolation.ts'
import { clearTimers, keepTimers, watchThread, watchTimers } from './leftovers.ts'
import {
  type CodeFile,
  GARBAGE_BYTES,
  memoryExceeded,
  type RunResult,
  type ThreadData,
  type ThreadMessage,
  type ThreadState,
  type ThreadTask,
  type WorkerMessage,
} from './protocol.ts'
import { serialize } from './serialize.ts'
import { openSteps } from './steps.ts'
import { openWaits } from './waits.ts'

type Run = (input: unknown, context: object) => unknown
type CurrentRun = {
  steps: ReturnType<typeof openSteps>
  waits: ReturnType<typeof openWaits>
  abort: AbortController
}

const port = parentPort
if (!port) throw new Error('This module is the entry of an agent thread.')
const post = (message: ThreadMessage | ThreadState) => port.postMessage(message)
/** Taken before an agent can replace them. */
const nextTurn = promisify(setImmediate)

const { began, memoryMb, isIsolated }: ThreadData = workerData

setSourceMapsSupport(true, { nodeModules: true, generatedCode: false })

delete process.env.NODE_COMPILE_CACHE
/**
 * Linux applies this to the calling thread only (setpriority(2), NOTES): an agent that computes must not take processor
 * time from its worker's event loop. Elsewhere it would apply to the whole process.
 */
if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL)

let agent: Promise<Run> | undefined
let watch: ReturnType<typeof watchThread> | undefined
let current: CurrentRun | null = null
/** Whose asynchronous work is executing. That of an earlier run must not count as the present one's. */
const runs = new AsyncLocalStorage<CurrentRun>()
let isDamaged = false

const { take: takeLogs, write } = captureConsole(
  (printed) => post({ type: 'log', ...printed }),
  () => current !== null && runs.getStore() === current,
)
const children = guardProcess({
  endRun: crash,
  onChild: (pid, isRunning) => post({ type: 'child', pid, isRunning }),
})
watchTimers()
if (isIsolated) isolate(crash)
syncBuiltinESMExports()
process.on('uncaughtException', crash)

port.on('message', (message: WorkerMessage) => {
  if (message.type === 'run') void execute(message.task)
  else if (message.type === 'abort') current?.abort.abort()
  else if (message.type === 'wait-ended') current?.waits.end(message.id, message.json)
  else if (message.type === 'wait-open') current?.waits.open(message.id)
  else current?.steps.resume(message.id, message)
})
post({ type: 'started' })

function crash(error: unknown): void {
  isDamaged = true
  const from = runs.getStore()
  // What an earlier run left behind must not end this or the next one, which is the thread's last.
  if (!current || (from && from !== current)) return
  postLogs()
  post({ type: 'crashed', error: describe(error) })
}

function postLogs(): void {
  const printed = takeLogs()
  if (printed.text) post({ type: 'log', ...printed })
}

/** The worker has the result before the thread checks whether the run left it as it was. */
async function execute(task: ThreadTask): Promise<void> {
  began[1] = performance.eventLoopUtilization().idle
  began[0] = Date.now()
  const waits = openWaits(post, task.publicUrl)
  const abort = new AbortController()
  const steps = openSteps({ storedSteps: task.storedSteps, post, signal: abort.signal, waits })
  waits.use(steps)
  const run = { steps, waits, abort }
  current = run
  const returned = await Promise.race([runs.run(run, () => callAgent(task, run)), waits.suspended])
  // Node reports unhandled rejections and exceptions of the agent first.
  await nextTurn()
  const { isTooLarge, isHalfFull, bytes } = measureMemory()
  const result: RunResult = isTooLarge
    ? { type: 'failed', error: { message: memoryExceeded(memoryMb), stack: null } }
    : returned
  steps.close()
  waits.close()
  postLogs()
  current = null
  post({ type: 'result', result })
  const hasTimersOrChildren = clearTimers() || children.size > 0
  const hasEndedWell = result.type === 'returned' || result.type === 'suspended'
  const isUnharmed = hasEndedWell && !isDamaged && !hasTimersOrChildren && !steps.hasAbandoned()
  const isClean = isUnharmed && !isHalfFull && (watch?.isClean() ?? false)
  post({ type: 'free', isClean, bytes })
}

/** What is left after the run, without its garbage; buffers may also have been too large while it was going on. */
function measureMemory(): { isTooLarge: boolean; isHalfFull: boolean; bytes: number } {
  const limit = memoryMb * 2 ** 20
  const during = readMemory()
  const hasMuch = Math.max(during.external, during.used) > limit / 2
  if (hasMuch) collectGarbage()
  const { external, used, heap } = hasMuch ? readMemory() : during
  return {
    isTooLarge: during.external > limit + GARBAGE_BYTES || external > limit,
    // The next runs would fail for what the earlier ones left.
    isHalfFull: used + external > limit / 2,
    bytes: heap + external,
  }
}

function readMemory(): { external: number; used: number; heap: number } {
  const { external, arrayBuffers, heapUsed, heapTotal } = process.memoryUsage()
  // Shared buffers are in the second only.
  return { external: Math.max(external, arrayBuffers), used: heapUsed, heap: heapTotal }
}

/** Twice, because the first one frees buffers in the background. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  collect()
  collect()
}

async function callAgent(task: ThreadTask, { steps, waits, abort }: CurrentRun): Promise<RunResult> {
  try {
    if (!agent && !(await isIntact(task.code))) return { type: 'code-changed' }
    agent ??= load(task.code.url)
    const call = await agent
    watch ??= watchThread()
    const { executionId, tenantId, input } = task
    const context = {
      ...{ executionId, tenantId, signal: abort.signal, step: steps.step, run: steps.run },
      ...{ log: openLog(write), fetch: openFetch(task), ...waits.context },
    }
    const returned = await call(JSON.parse(input), context)
    const result = serialize('The output', returned, 'The output must be a JSON object.')
    return 'json' in result ? { type: 'returned', ...result } : { type: 'invalid', ...result }
  } catch (error) {
    return { type: 'failed', error: describe(error) }
  }
}

/** Few agents call it: it loads what connects on its first call. */
const openFetch =
  ({ allowedHosts = [], traceparent }: ThreadTask) =>
  async (...[input, init]: Parameters<typeof fetch>): Promise<Response> => {
    const { egressFetch } = await import('../../../tools/egress/egress-fetch.ts')
    return egressFetch(input, init, { allowedHosts }, traceparent ? { traceparent } : {})
  }

/** Agents share a file system, so that one may have replaced the code of another. */
async function isIntact({ url, sha256 }: CodeFile): Promise<boolean> {
  if (sha256 === null) return true
  const content = await readFile(fileURLToPath(url)).catch(() => null)
  return content !== null && createHash('sha256').update(content).digest('hex') === sha256
}

async function load(file: string): Promise<Run> {
  const module: { default?: unknown } = await import(file).catch((cause: unknown) => {
    const error = new Error(`agent.ts cannot be loaded: ${describe(cause).message}`)
    error.stack = describe(cause).stack ?? ''
    throw error
  })
  if (typeof module.default !== 'function') throw new Error('agent.ts does not default-export a function.')
  keepTimers()
  return module.default as Run
}
