import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads'
import Tinypool from 'tinypool'
import type { ThreadMessage, ThreadResult, ThreadTask, WorkerMessage } from './protocol.ts'

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

/** A thread died, or did something that ends it. */
export class ThreadDied extends Error {}

/** One worker thread that runs code of one version, one run at a time. */
export class AgentThread {
  private readonly pool: Tinypool
  private readonly memoryMb: number

  constructor({ environment, memoryMb }: ThreadOptions) {
    this.memoryMb = memoryMb
    this.pool = new Tinypool({
      filename: ENTRY.href,
      minThreads: 1,
      maxThreads: 1,
      env: { ...COMPILE_CACHE, ...environment },
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    })
    // Of a thread without a task: it is found dead when its next task fails.
    this.pool.on('error', () => undefined)
  }

  /**
   * Starts a run. `send` answers the messages of the thread.
   * @throws ThreadDied (from `result`)
   */
  start(task: Omit<ThreadTask, 'port'>, onMessage: (message: ThreadMessage) => void) {
    const { port1, port2 } = new MessageChannel()
    port1.on('message', onMessage)
    const result = this.run({ ...task, port: port2 }).finally(() => {
      // What the thread sent before it ended may still be in the queue.
      for (let sent = receiveMessageOnPort(port1); sent; sent = receiveMessageOnPort(port1))
        onMessage(sent.message)
      port1.close()
    })
    return { result, send: (message: WorkerMessage) => port1.postMessage(message) }
  }

  /** Whether the last run left nothing behind, so that the thread can be used again. */
  isClean(): Promise<boolean> {
    return this.pool.run(undefined, { name: 'isClean' })
  }

  async destroy(): Promise<void> {
    await this.pool.destroy()
  }

  private async run(task: ThreadTask): Promise<ThreadResult> {
    try {
      return await this.pool.run(task, { transferList: [task.port] })
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      throw new ThreadDied(
        code === 'ERR_WORKER_OUT_OF_MEMORY'
          ? `The agent exceeded its memory limit of ${this.memoryMb} MB.`
          : message,
        { cause: error },
      )
    }
  }
}
