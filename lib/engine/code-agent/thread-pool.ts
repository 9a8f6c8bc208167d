import pLimit from 'p-limit'
import { AgentThread, type ThreadOptions } from './agent-thread.ts'

/** Threads that run at the same time in this process, and of one version; further runs wait. */
const MAX_RUNNING = 128
const MAX_RUNNING_OF_VERSION = 32
/** Warm threads without a run, of all versions together. */
const MAX_IDLE = 64
const IDLE_MS = 20_000

/** Runs something, and returns whether the thread can be used again. */
type Use = (thread: AgentThread) => Promise<boolean>
type IdleThread = { key: string; thread: AgentThread; timer: NodeJS.Timeout }

/** Oldest first. */
const idle: IdleThread[] = []
const limit = pLimit(MAX_RUNNING)
/** Of versions with runs. */
const limits = new Map<string, ReturnType<typeof pLimit>>()

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
  const thread = takeIdle(key) ?? new AgentThread(options)
  const isReusable = await use(thread).catch(() => false)
  if (isReusable) keep(key, thread)
  else void thread.destroy()
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
