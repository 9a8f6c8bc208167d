import pLimit from 'p-limit'
import { AgentThread, type ThreadOptions } from './agent-thread.ts'

/** Threads that run at the same time in this process, and of one version; further runs wait. */
const MAX_RUNNING = 128
const MAX_RUNNING_OF_VERSION = 32
/** Warm threads without a run, of all versions together. */
const MAX_IDLE = 16
const IDLE_MS = 10_000

type Use = (thread: AgentThread) => Promise<boolean>
type IdleThread = { key: string; thread: AgentThread; timer: NodeJS.Timeout }

/** Oldest first. */
const idle: IdleThread[] = []
const limit = pLimit(MAX_RUNNING)
const limits = new Map<string, ReturnType<typeof pLimit>>()

/**
 * Calls `use` with a thread that no other run uses: a warm one that ran the same version before, or a new one. `use`
 * returns whether the thread can be used again.
 * @param key organization and version
 */
export function withThread(key: string, options: ThreadOptions, use: Use): Promise<void> {
  return limitOf(key)(() => limit(() => run(key, options, use)))
}

/** So that runs of one version cannot use all threads. */
function limitOf(key: string) {
  const known = limits.get(key) ?? pLimit(MAX_RUNNING_OF_VERSION)
  limits.set(key, known)
  return known
}

async function run(key: string, options: ThreadOptions, use: Use): Promise<void> {
  const thread = takeIdle(key) ?? new AgentThread(options)
  const isReusable = await use(thread).catch(() => false)
  if (isReusable) keep(key, thread)
  else void thread.destroy()
}

function takeIdle(key: string): AgentThread | undefined {
  const index = idle.findLastIndex((entry) => entry.key === key)
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
