import { availableParallelism } from 'node:os'
import pLimit from 'p-limit'
import { AgentThread, type ThreadOptions } from './agent-thread.ts'

/** Threads that run at the same time in this process, and of one version; further runs wait. */
const MAX_RUNNING = 128
const MAX_RUNNING_OF_VERSION = 32
/** Warm threads without a run, of all versions together. */
const MAX_IDLE = 64
const IDLE_MS = 20_000
/**
 * Threads of one version that start at the same time. A start takes about 40 ms of processor time, and most runs less than
 * 1 ms: after a pause, further runs get a thread sooner from a run that ends than by starting more threads.
 */
const MAX_STARTING_OF_VERSION = availableParallelism()

/** Runs something, and returns whether the thread can be used again. */
type Use = (thread: AgentThread) => Promise<boolean>
type IdleThread = { key: string; thread: AgentThread; timer: NodeJS.Timeout }

/** Oldest first. */
const idle: IdleThread[] = []
const limit = pLimit(MAX_RUNNING)
/** Of versions with runs. */
const limits = new Map<string, ReturnType<typeof pLimit>>()

/** The runs of a version that wait for a thread, oldest first, and how many of its threads are starting. */
type Queue = { waiting: ((thread: AgentThread) => void)[]; starting: number }
const queues = new Map<string, Queue>()

/**
 * Calls `use` with a thread that no other run uses: a warm one that ran the same version before, or a new one.
 * @param key organization and version
 */
export async function withThread(key: string, options: ThreadOptions, use: Use): Promise<void> {
  const limitOfVersion = limits.get(key) ?? pLimit(MAX_RUNNING_OF_VERSION)
  limits.set(key, limitOfVersion)
  try {
    await limitOfVersion(() => limit(() => useThread(key, options, use)))
  } finally {
    if (limitOfVersion.activeCount + limitOfVersion.pendingCount === 0) limits.delete(key)
  }
}

async function useThread(key: string, options: ThreadOptions, use: Use): Promise<void> {
  const thread = takeIdle(key) ?? (await nextThread(key, options))
  const isReusable = await use(thread).catch(() => false)
  if (isReusable) offer(key, thread)
  else void thread.destroy()
}

/** The first thread of the version that is free: a new one, or that of a run that ends before. */
function nextThread(key: string, options: ThreadOptions): Promise<AgentThread> {
  const queue = queues.get(key) ?? { waiting: [], starting: 0 }
  queues.set(key, queue)
  return new Promise((resolve) => {
    queue.waiting.push(resolve)
    startThreads(key, queue, options)
  })
}

function startThreads(key: string, queue: Queue, options: ThreadOptions): void {
  while (queue.starting < Math.min(queue.waiting.length, MAX_STARTING_OF_VERSION)) {
    queue.starting += 1
    const thread = new AgentThread(options)
    void thread.whenStarted().then((hasStarted) => {
      queue.starting -= 1
      if (hasStarted || queue.waiting.length > 0) offer(key, thread)
      else void thread.destroy()
      startThreads(key, queue, options)
      if (queue.starting + queue.waiting.length === 0) queues.delete(key)
    })
  }
}

/** Gives the thread to the run that waits longest, or keeps it warm. */
function offer(key: string, thread: AgentThread): void {
  const take = queues.get(key)?.waiting.shift()
  if (take) take(thread)
  else keep(key, thread)
}

function takeIdle(key: string): AgentThread | undefined {
  const index = idle.findLastIndex((entry) => entry.key === key && !entry.thread.isDestroyed)
  if (index === -1) return undefined
  const [entry] = idle.splice(index, 1)
  clearTimeout(entry?.timer)
  return entry?.thread
}

function keep(key: string, thread: AgentThread): void {
  const entry = { key, thread, timer: setTimeout(() => discard(entry), IDLE_MS).unref() }
  idle.push(entry)
  const [oldest] = idle
  if (idle.length > MAX_IDLE && oldest) discard(oldest)
}

function discard(entry: IdleThread): void {
  clearTimeout(entry.timer)
  idle.splice(idle.indexOf(entry), 1)
  void entry.thread.destroy()
}
