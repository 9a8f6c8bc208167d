import { extname } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'
import {
  memoryExceeded,
  type ThreadData,
  type ThreadMessage,
  type ThreadState,
  type ThreadTask,
  type WorkerMessage,
} from './thread/protocol.ts'
import { watchMemory } from './thread-memory.ts'

/** Bundles of functions have it beside them. */
const EXTENSION = extname(import.meta.url)
const ENTRY = new URL(
  EXTENSION === '.mjs' ? './thread-entry.mjs' : `./thread/entry${EXTENSION}`,
  import.meta.url,
)

/** Where this process keeps compiled code, so that a thread starts faster. Removed before the agent runs. */
const { NODE_COMPILE_CACHE } = process.env
const COMPILE_CACHE = NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE } : {}

/** V8 takes three times the size of a semi-space. Its default of 192 MB would not count as part of the limit. */
const MAX_YOUNG_GENERATION_MB = 24

// With these flags, which Lambda sets, V8 ignores the limits of threads: https://github.com/nodejs/node/issues/43991
// The heap of this thread exists, and keeps its limits.
setFlagsFromString('--max-old-space-size=0')
setFlagsFromString('--max-semi-space-size=0')

/**
 * V8's own limit for the heap, far above the thread's, which `watchMemory` applies: V8 ends the process, not the
 * thread, if a single allocation exceeds its limit by more than 16 MB. A map that doubles itself takes three times its
 * size for a moment, and the JSON of a long string is one allocation.
 */
const HEAP_FACTOR = 3
const MAX_VALUE_MB = 128

/** Node.js before 22.16 cannot measure the heap of a thread: V8's limit is the thread's then. */
const IS_MEASURABLE = 'getHeapStatistics' in Worker.prototype

export type ThreadOptions = {
  /** All that the agent sees of the environment. */
  environment: Record<string, string>
  memoryMb: number
  /** Connections, DNS and child processes end the run. */
  isIsolated?: boolean
}

/** A thread died, or did something that ends it. */
export class ThreadDied extends Error {}

type Run = PromiseWithResolvers<boolean> & { onMessage: (message: ThreadMessage) => void }

/** One worker thread that runs code of one version, one run at a time. */
export class AgentThread {
  readonly memoryMb: number
  /** Heap and buffers after the last run. */
  bytes = 0
  isDestroyed = false
  /** Resolves when the thread can execute a run: true; or has failed to start, so that `execute` throws: false. */
  readonly whenStarted: Promise<boolean>
  private readonly worker: Worker
  /** Processes that the agent has started. */
  private readonly children = new Set<number>()
  /**
   * When the thread began its present run, or 0, and for how long its event loop had been idle. Shared, because a
   * thread that waits for a processor cannot answer.
   */
  private readonly began = new Float64Array(new SharedArrayBuffer(16))
  private run: Run | null = null
  private failure: ThreadDied | null = null

  constructor({ environment, memoryMb, isIsolated = false }: ThreadOptions) {
    this.memoryMb = memoryMb
    this.worker = new Worker(ENTRY, {
      env: { ...COMPILE_CACHE, ...environment },
      execArgv: [],
      workerData: { began: this.began, memoryMb, isIsolated } satisfies ThreadData,
      resourceLimits: {
        maxOldGenerationSizeMb: IS_MEASURABLE ? memoryMb * HEAP_FACTOR + MAX_VALUE_MB : memoryMb,
        maxYoungGenerationSizeMb: MAX_YOUNG_GENERATION_MB,
      },
    })
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.whenStarted = promise
    this.worker
      .on('message', (message: ThreadMessage | ThreadState) => {
        if (message.type === 'started') resolve(true)
        else this.receive(message)
      })
      .on('error', (error: NodeJS.ErrnoException) => this.fail(error))
      .once('exit', () => {
        resolve(false)
        this.end()
      })
    // A thread without a run must not keep the process running.
    this.worker.unref()
  }

  /**
   * Executes a run. Its messages go to `onMessage`; the last one is `result`, unless the thread dies.
   * @returns whether the run left nothing behind, so that the thread can be used again
   * @throws ThreadDied
   */
  async execute(task: ThreadTask, onMessage: (message: ThreadMessage) => void): Promise<boolean> {
    if (this.isDestroyed) throw this.failure ?? new ThreadDied('The thread of the agent has ended.')
    const unwatch = watchMemory(this)
    this.worker.ref()
    try {
      this.run = { ...Promise.withResolvers(), onMessage }
      this.began[0] = 0
      this.send({ type: 'run', task })
      return await this.run.promise
    } finally {
      unwatch()
      this.worker.unref()
      // A warm thread must not keep the payloads of its last run in memory.
      this.run = null
    }
  }

  /**
   * For how long the code of the present run has been executing, and how much of that it waited, in milliseconds. Zero
   * if it has not begun, or has ended.
   */
  timesOfRun(): { elapsed: number; waited: number } {
    const [began = 0, idleBefore = 0] = this.began
    if (began === 0) return { elapsed: 0, waited: 0 }
    const { idle } = this.worker.performance.eventLoopUtilization()
    return { elapsed: Date.now() - began, waited: idle - idleBefore }
  }

  send(message: WorkerMessage): void {
    this.worker.postMessage(message)
  }

  async measureMemory(): Promise<{ heap: number; external: number }> {
    if (!IS_MEASURABLE) return { heap: 0, external: 0 }
    const { used_heap_size, external_memory } = await this.worker.getHeapStatistics()
    return { heap: used_heap_size, external: external_memory }
  }

  async endForMemory(): Promise<void> {
    this.failure ??= new ThreadDied(memoryExceeded(this.memoryMb))
    await this.destroy()
  }

  async destroy(): Promise<void> {
    this.isDestroyed = true
    await this.worker.terminate()
  }

  private receive(message: ThreadMessage | Exclude<ThreadState, { type: 'started' }>): void {
    switch (message.type) {
      case 'free':
        this.bytes = message.bytes
        this.run?.resolve(message.isClean)
        return
      case 'child':
        if (message.isRunning) this.children.add(message.pid)
        else this.children.delete(message.pid)
        return
      default:
        if (message.type === 'result') this.began[0] = 0
        this.run?.onMessage(message)
    }
  }

  private fail(error: NodeJS.ErrnoException): void {
    const isOutOfMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    const message = isOutOfMemory ? memoryExceeded(this.memoryMb) : error.message
    this.failure ??= new ThreadDied(message, { cause: error })
  }

  /** After all messages of the thread have been received. */
  private end(): void {
    this.isDestroyed = true
    for (const pid of this.children) killQuietly(pid)
    this.run?.reject(this.failure ?? new ThreadDied('The thread of the agent has ended.'))
  }
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}
