import { ChildProcess } from 'node:child_process'
import os from 'node:os'
import { format } from 'node:util'
import workerThreads, { threadId } from 'node:worker_threads'

type Options = {
  /** Ends the run with an error. */
  endRun: (error: Error) => void
  onChild: (pid: number, isRunning: boolean) => void
}

/**
 * Replaces what would reach beyond the thread: into this process, other threads, and the time after the run. It
 * prevents accidents, and is not a sandbox.
 * @returns ids of the child processes that run
 */
export function guardProcess({ endRun, onChild }: Options): ReadonlySet<number> {
  const children = watchChildren(onChild)
  const refuse = (what: string) => {
    throw new Error(`${what} is not available to agents.`)
  }
  const end = (call: string, what: string) => {
    endRun(new Error(`The agent called ${call}.`))
    refuse(what)
  }
  const { kill } = process
  Object.assign(process, {
    // In a thread, it would end the thread without a report.
    exit: (code?: unknown) => end(`process.exit(${code ?? ''})`, 'process.exit'),
    abort: () => end('process.abort()', 'process.abort'),
    kill: (pid: number, signal?: string | number) => {
      if (signal === 0 || children.has(Math.abs(pid))) return kill(pid, signal)
      if (pid === process.pid) end('process.kill(process.pid)', 'process.kill for the own process')
      return refuse('process.kill for other processes than those that the agent has started')
    },
  })
  hideEnvironment()
  os.setPriority = () => refuse('os.setPriority')
  Object.assign(workerThreads, {
    parentPort: null,
    workerData: null,
    postMessageToThread: () => refuse('postMessageToThread'),
  })
  separateChannels()
  separateLocks()
  return children
}

/** A diagnostic report has the environment of the process, credentials included, not that of the thread. */
function hideEnvironment(): void {
  process.report.excludeEnv = true
  Object.defineProperty(process.report, 'excludeEnv', { get: () => true, set: () => undefined })
}

function watchChildren(onChild: Options['onChild']): Set<number> {
  const running = new Set<number>()
  const prototype = ChildProcess.prototype as unknown as {
    spawn: (options: { detached?: boolean }) => unknown
  }
  const { spawn } = prototype
  prototype.spawn = function (this: ChildProcess, options) {
    const result = spawn.call(this, options)
    const { pid } = this
    if (pid === undefined) return result
    const id = options.detached && process.platform !== 'win32' ? -pid : pid
    running.add(pid)
    onChild(id, true)
    this.once('exit', () => {
      running.delete(pid)
      onChild(id, false)
    })
    return result
  }
  return running
}

/** Names of this thread's channels and locks are those of no other thread. */
const PREFIX = `thread ${threadId}: `

function separateChannels(): void {
  const { BroadcastChannel } = workerThreads
  const separate = class extends BroadcastChannel {
    constructor(name: string) {
      super(`${PREFIX}${name}`)
    }
  }
  Object.defineProperty(separate, 'name', { value: 'BroadcastChannel' })
  workerThreads.BroadcastChannel = separate
  Object.defineProperty(globalThis, 'BroadcastChannel', { value: separate })
}

type Locks = { request: (name: string, ...rest: unknown[]) => Promise<unknown> }

/** Without loading `navigator`, which few agents use. */
function separateLocks(): void {
  const get = Object.getOwnPropertyDescriptor(globalThis, 'navigator')?.get
  if (!get) return
  let isSeparate = false
  Object.defineProperty(globalThis, 'navigator', {
    configurable: true,
    enumerable: true,
    get: () => {
      const navigator = get.call(globalThis) as { locks?: Locks }
      if (!isSeparate && navigator.locks) {
        const { locks } = navigator
        const { request } = locks
        Object.defineProperty(locks, 'request', {
          value: (name: string, ...rest: unknown[]) => request.call(locks, `${PREFIX}${name}`, ...rest),
        })
      }
      isSeparate = true
      return navigator
    },
  })
}

const MAX_LOG_CHARACTERS = 16_000
const FLUSH_MS = 100

type Printed = { text: string; isCut: boolean }

/**
 * Sends what the run in progress prints to its execution's log, never to the service's. At most ten times a second: a
 * thread that prints in a loop must not keep its worker busy.
 * @param isOfRun whether the caller belongs to the run in progress; what an earlier run prints late is dropped
 * @returns `take` takes what has not been sent; `write` adds to it
 */
export function captureConsole(send: (printed: Printed) => void, isOfRun: () => boolean) {
  let pending: Printed = { text: '', isCut: false }
  let flushedAt = 0
  const take = () => {
    const printed = pending
    pending = { text: '', isCut: false }
    flushedAt = performance.now()
    return printed
  }
  const write = (added: string) => {
    if (!isOfRun()) return
    const text = pending.text + added
    const isCut = pending.isCut || text.length > MAX_LOG_CHARACTERS
    pending = { text: text.slice(-MAX_LOG_CHARACTERS), isCut }
    if (performance.now() - flushedAt > FLUSH_MS) send(take())
  }
  for (const method of ['log', 'info', 'warn', 'error', 'debug', 'trace'] as const)
    console[method] = (...values: unknown[]) => write(`${format(...values)}\n`)
  const writeChunk = (chunk: unknown, ...rest: unknown[]) => {
    write(typeof chunk === 'string' ? chunk : Buffer.from(chunk as Uint8Array).toString())
    const callback = rest.at(-1)
    if (typeof callback === 'function') process.nextTick(callback as () => void)
    return true
  }
  process.stdout.write = writeChunk as typeof process.stdout.write
  process.stderr.write = writeChunk as typeof process.stderr.write
  return { take, write }
}

/** `context.log`: what an agent prints, with a level. */
export function openLog(write: (text: string) => void) {
  const at =
    (level: string) =>
    (...values: unknown[]): void =>
      write(`${level} ${format(...values)}\n`)
  return Object.assign(at('INFO'), {
    debug: at('DEBUG'),
    info: at('INFO'),
    warn: at('WARN'),
    error: at('ERROR'),
  })
}
