import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads'
import Tinypool from 'tinypool'
import type { ThreadMessage, ThreadTask, WorkerMessage } from './protocol.ts'

/** Beside this file; the bundles of functions have it as `thread-entry.mjs`. */
const ENTRY = new URL(`./thread-entry.${import.meta.url.endsWith('.ts') ? 'ts' : 'mjs'}`, import.meta.url)

/** Where this process keeps compiled code, so that a thread starts faster. Removed before the agent runs. */
const { NODE_COMPILE_CACHE } = process.env
const COMPILE_CACHE = NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE } : {}

export type ThreadOptions = {
  /** All that the agent sees of the environment. */
  environment: Record<string, string>
  memoryMb: number
}

const ignore = () => undefined

/** A thread died, or did something that ends it. */
export class ThreadDied extends Error {}

/** One worker thread that runs code of one version, one run at a time. */
export class AgentThread {
  private readonly pool: Tinypool
  private readonly memoryMb: number
  private readonly channel = new MessageChannel()
  private readonly connected: Promise<void>
  private onMessage: (message: ThreadMessage) => void = ignore
  isDestroyed = false

  constructor({ environment, memoryMb }: ThreadOptions) {
    this.memoryMb = memoryMb
    this.pool = new Tinypool({
      filename: ENTRY.href,
      minThreads: 1,
      maxThreads: 1,
      env: { ...COMPILE_CACHE, ...environment },
      execArgv: [],
      // With these, the thread's event loop would not turn between runs, and closed handles would never be freed.
      useAtomics: false,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    })
    // Of a thread without a task. The pool would replace it by one that is not connected.
    this.pool.on('error', () => this.destroy())
    const { port1, port2 } = this.channel
    // A thread without a run must not keep the process running.
    port1.on('message', (message) => this.onMessage(message)).unref()
    this.connected = this.pool.run(port2, { name: 'connect', transferList: [port2] })
    this.connected.catch(() => undefined)
  }

  /** Resolves as soon as the thread can execute a run: true; or has failed to start, so that `execute` throws: false. */
  whenStarted(): Promise<boolean> {
    return this.connected.then(
      () => true,
      () => false,
    )
  }

  /**
   * Executes a run. Its messages go to `onMessage`; the last one is `result`, unless the thread dies.
   * @returns whether the run left nothing behind, so that the thread can be used again
   * @throws ThreadDied
   */
  async execute(task: ThreadTask, onMessage: (message: ThreadMessage) => void): Promise<boolean> {
    this.onMessage = onMessage
    try {
      await this.connected
      return await this.pool.run(task)
    } catch (error) {
      throw this.toThreadDied(error as NodeJS.ErrnoException)
    } finally {
      this.receiveQueued()
      // A warm thread must not keep the payloads of its last run in memory.
      this.onMessage = ignore
    }
  }

  send(message: WorkerMessage): void {
    this.channel.port1.postMessage(message)
  }

  async destroy(): Promise<void> {
    this.isDestroyed = true
    this.channel.port1.close()
    await this.pool.destroy()
  }

  /** The pool may report the end of a task before the last messages of the thread have been received. */
  private receiveQueued(): void {
    const { port1 } = this.channel
    for (let sent = receiveMessageOnPort(port1); sent; sent = receiveMessageOnPort(port1))
      this.onMessage(sent.message)
  }

  private toThreadDied(error: NodeJS.ErrnoException): ThreadDied {
    const isOutOfMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    const message = isOutOfMemory
      ? `The agent exceeded its memory limit of ${this.memoryMb} MB.`
      : error.message
    return new ThreadDied(message, { cause: error })
  }
}
