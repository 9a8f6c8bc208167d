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
 * How long a run waits for a busy thread of its version before a further one starts. A start takes about as long, all of it
 * processor time, and most runs less than 1 ms: a run that ends usually frees its thread sooner.
 */
const START_AFTER_MS = 50
/** Threads of one version that start at the same time. */
const MAX_STARTING_OF_VERSION = availableParallelism()

/** Runs something, and returns whether the thread can be used again. */
type Use = (thread: AgentThread) => Promise<boolean>
type IdleThread = { key: string; thread: AgentThread; timer: NodeJS.Timeout }

/** A run that waits for a thread; overdue after `START_AFTER_MS`. */
type WaitingRun = { take: (thread: AgentThread) => void; isOverdue: boolean }
/** A version with runs, or with threads that start. `busy` threads start or run. */
type ActiveVersion = {
  key: string
  options: ThreadOptions
  limit: ReturnType<typeof pLimit>
  /** Oldest first. */
  waiting: WaitingRun[]
  busy: number
  starting: number
}

/** Oldest first. */
const idle: IdleThread[] = []
const limit = pLimit(MAX_RUNNING)
const versions = new Map<string, ActiveVersion>()

/**
 * Calls `use` with a thread that no other run uses: a warm one that ran the same version before, or a new one.
 * @param key organization and version
 */
export async function withThread(key: string, options: ThreadOptions, use: Use): Promise<void> {
  const version = versions.get(key) ?? {
    key,
    options,
    limit: pLimit(MAX_RUNNING_OF_VERSION),
    waiting: [],
    busy: 0,
    starting: 0,
  }
  version.options = options
  versions.set(key, version)
  await version.limit(() => limit(() => useThread(version, use)))
  forgetInactive(version)
}

function forgetInactive({ key, limit: { activeCount, pendingCount }, starting }: ActiveVersion): void {
  if (activeCount + pendingCount + starting === 0) versions.delete(key)
}

async function useThread(version: ActiveVersion, use: Use): Promise<void> {
  const thread = takeIdle(version) ?? (await nextThread(version))
  const isReusable = await use(thread).catch(() => false)
  if (isReusable) offer(version, thread)
  else discard(version, thread)
}

/** The first thread of the version that is free: that of a run that ends, or a new one. */
function nextThread(version: ActiveVersion): Promise<AgentThread> {
  return new Promise((resolve) => {
    const run: WaitingRun = { take, isOverdue: false }
    const timer = setTimeout(() => {
      run.isOverdue = true
      startThreads(version)
    }, START_AFTER_MS)
    function take(thread: AgentThread) {
      clearTimeout(timer)
      resolve(thread)
    }
    version.waiting.push(run)
    startThreads(version)
  })
}

function startThreads(version: ActiveVersion): void {
  const { waiting, options } = version
  const wanted =
    version.busy > 0 ? waiting.filter(({ isOverdue }) => isOverdue).length : Math.min(1, waiting.length)
  while (version.starting < Math.min(wanted, MAX_STARTING_OF_VERSION)) {
    version.busy += 1
    version.starting += 1
    const thread = new AgentThread(options)
    void thread.whenStarted().then((hasStarted) => {
      version.starting -= 1
      // A run reports that its thread could not be started.
      if (hasStarted || waiting.length > 0) offer(version, thread)
      else discard(version, thread)
      startThreads(version)
      forgetInactive(version)
    })
  }
}

/** Gives the thread to the run that waits longest, or keeps it warm. */
function offer(version: ActiveVersion, thread: AgentThread): void {
  const run = version.waiting.shift()
  if (run) {
    run.take(thread)
  } else {
    version.busy -= 1
    keep(version.key, thread)
  }
}

function discard(version: ActiveVersion, thread: AgentThread): void {
  version.busy -= 1
  void thread.destroy()
  startThreads(version)
}

function takeIdle(version: ActiveVersion): AgentThread | undefined {
  const index = idle.findLastIndex(({ key, thread }) => key === version.key && !thread.isDestroyed)
  if (index === -1) return undefined
  const [entry] = idle.splice(index, 1)
  clearTimeout(entry?.timer)
  version.busy += 1
  return entry?.thread
}

function keep(key: string, thread: AgentThread): void {
  const entry = { key, thread, timer: setTimeout(() => endIdle(entry), IDLE_MS).unref() }
  idle.push(entry)
  const [oldest] = idle
  if (idle.length > MAX_IDLE && oldest) endIdle(oldest)
}

function endIdle(entry: IdleThread): void {
  clearTimeout(entry.timer)
  idle.splice(idle.indexOf(entry), 1)
  void entry.thread.destroy()
}
