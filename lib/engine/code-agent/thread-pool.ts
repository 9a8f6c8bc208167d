import pLimit from 'p-limit'
import { AgentThread, type ThreadOptions } from './agent-thread.ts'

/** Threads that run at the same time in this process, and of one version; further runs wait. */
const MAX_RUNNING = 128
const MAX_RUNNING_OF_VERSION = 32
/** Warm threads without a run, of all versions together. */
const MAX_IDLE = 64
const IDLE_MS = 20_000

/** Runs something, and returns whether it succeeded. */
type Use = (thread: AgentThread) => Promise<boolean>
type IdleThread = { key: string; thread: AgentThread; timer: NodeJS.Timeout }

/** Threads of one version. */
type VersionPool = {
  limit: ReturnType<typeof pLimit>
  /** Checks of threads whose run has succeeded. */
  checks: Set<Promise<void>>
}

/** Oldest first. */
const idle: IdleThread[] = []
const limit = pLimit(MAX_RUNNING)
const pools = new Map<string, VersionPool>()

/**
 * Calls `use` with a thread that no other run uses: a warm one that ran the same version before, or a new one. The thread
 * is used again if `use` succeeds and leaves it clean.
 * @param key organization and version
 */
export function withThread(key: string, options: ThreadOptions, use: Use): Promise<void> {
  const pool = pools.get(key) ?? { limit: pLimit(MAX_RUNNING_OF_VERSION), checks: new Set() }
  pools.set(key, pool)
  return pool
    .limit(() =>
      limit(async () => {
        const thread = (await takeWarm(key, pool)) ?? new AgentThread(options)
        const hasSucceeded = await use(thread).catch(() => false)
        if (!hasSucceeded) return void thread.destroy()
        const check = keepIfClean(key, thread).finally(() => pool.checks.delete(check))
        pool.checks.add(check)
      }),
    )
    .finally(() => {
      if (pool.limit.activeCount + pool.limit.pendingCount + pool.checks.size === 0) pools.delete(key)
    })
}

/** Waits for a thread that is being checked, which takes less time than to start a new one. */
async function takeWarm(key: string, { checks }: VersionPool): Promise<AgentThread | undefined> {
  for (;;) {
    const thread = takeIdle(key)
    if (thread || checks.size === 0) return thread
    await Promise.race(checks)
  }
}

function takeIdle(key: string): AgentThread | undefined {
  const index = idle.findLastIndex((entry) => entry.key === key)
  if (index === -1) return undefined
  const [entry] = idle.splice(index, 1)
  clearTimeout(entry?.timer)
  return entry?.thread
}

async function keepIfClean(key: string, thread: AgentThread): Promise<void> {
  const isClean = await thread.isClean().catch(() => false)
  if (!isClean) return void thread.destroy()
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
