import { availableParallelism } from 'node:os'
import pLimit from 'p-limit'
import { AgentThread, type ThreadOptions } from './agent-thread.ts'
import { PROCESS_MEMORY } from './thread-memory.ts'

const MB = 2 ** 20
/** Of a thread that loaded a small agent, outside of its heap and in total. */
const BARE_BYTES = 8 * MB
const THREAD_BYTES = 16 * MB

/** Threads that run at the same time in this process, and of one version; further runs wait. */
const MAX_RUNNING = Math.max(8, Math.min(128, Math.floor(PROCESS_MEMORY / 2 / THREAD_BYTES)))
const MAX_RUNNING_OF_VERSION = 32
/** What warm threads without a run may take, of all versions together. The newest stays in any case. */
const MAX_IDLE_BYTES = Math.min(PROCESS_MEMORY / 8, 256 * MB)
const IDLE_MS = 20_000
/**
 * A further thread starts when every thread has been busy with its present run for this long. A start takes about as
 * long, all of it processor time, and most runs less than 1 ms: a run that ends usually frees its thread sooner.
 */
const START_AFTER_MS = 50
/** The same for a run that computes, if as many threads as processors are busy. */
const LONG_RUN_MS = 1_000
/** As many threads start at the same time for the same runs. */
const PROCESSORS = availableParallelism()

/** Whose runs may share a thread: those of one version, tenant and environment. */
export type ThreadKey = {
  /** Organization and version. */
  version: string
  tenantId: string | null
  /** A hash of what the agent sees of the environment. */
  environment: string
  /**
   * How many agents run above the run, in this process, and wait for it with a thread each. Their threads do not count
   * for its limits: it would wait for a thread that waits for it.
   */
  depth: number
}

/** Runs something, and returns whether the thread can be used again. */
type Use = (thread: AgentThread) => Promise<boolean>
type IdleThread = { key: string; thread: AgentThread; bytes: number; timer: NodeJS.Timeout }

/** Runs of one key. */
type Group = {
  key: string
  options: ThreadOptions
  runs: number
  /** Oldest first. */
  waiting: ((thread: AgentThread) => void)[]
  /** Threads with a run. */
  busy: Set<AgentThread>
  starting: number
  /** Threads to start as soon as others have started. */
  planned: number
  timer?: NodeJS.Timeout | undefined
}

/** Oldest first. */
const idle: IdleThread[] = []
const limits = new Map<number, ReturnType<typeof pLimit>>()
const versionLimits = new Map<string, ReturnType<typeof pLimit>>()
const groups = new Map<string, Group>()

/** Calls `use` with a thread that no other run uses: a warm one that ran with the same key before, or a new one. */
export async function withThread(key: ThreadKey, options: ThreadOptions, use: Use): Promise<void> {
  await withinLimits(key, () => useThread(openGroup(key, options), use))
}

/** Calls `use` with a new thread, which ends with the run. */
export async function withNewThread(key: ThreadKey, options: ThreadOptions, use: Use): Promise<void> {
  await withinLimits(key, async () => {
    const thread = new AgentThread(options)
    await use(thread).catch(() => false)
    await thread.destroy()
  })
}

async function withinLimits({ version, depth }: ThreadKey, run: () => Promise<void>): Promise<void> {
  const key = `${depth} ${version}`
  const versionLimit = versionLimits.get(key) ?? pLimit(MAX_RUNNING_OF_VERSION)
  versionLimits.set(key, versionLimit)
  const limit = limits.get(depth) ?? pLimit(MAX_RUNNING)
  limits.set(depth, limit)
  await versionLimit(() => limit(run))
  if (versionLimit.activeCount + versionLimit.pendingCount === 0) versionLimits.delete(key)
}

function openGroup({ version, tenantId, environment }: ThreadKey, options: ThreadOptions): Group {
  const key = JSON.stringify([version, tenantId, environment, options.memoryMb])
  const known = groups.get(key)
  if (known) return known
  const group: Group = { key, options, runs: 0, waiting: [], busy: new Set(), starting: 0, planned: 0 }
  groups.set(key, group)
  return group
}

async function useThread(group: Group, use: Use): Promise<void> {
  group.runs += 1
  const thread = takeIdle(group) ?? (await nextThread(group))
  group.busy.add(thread)
  const isReusable = await use(thread).catch(() => false)
  group.busy.delete(thread)
  group.runs -= 1
  if (isReusable) offer(group, thread)
  else {
    void thread.destroy()
    if (group.busy.size + group.starting === 0) startThreads(group, 1)
  }
  forgetInactive(group)
}

function forgetInactive({ key, runs, starting }: Group): void {
  if (runs + starting === 0) groups.delete(key)
}

/** The first thread of the group that is free: that of a run that ends, or a new one. */
function nextThread(group: Group): Promise<AgentThread> {
  return new Promise((resolve) => {
    group.waiting.push(resolve)
    if (group.busy.size + group.starting === 0) startThreads(group, 1)
    checkLater(group)
  })
}

/** After the events that wait: those of a busy main thread may be the ends of runs. */
function checkLater(group: Group): void {
  group.timer ??= setTimeout(() => setImmediate(check, group), START_AFTER_MS)
}

function check(group: Group): void {
  group.timer = undefined
  if (group.waiting.length === 0) return
  const hasProcessor = group.busy.size < PROCESSORS
  const areAllBusy = [...group.busy].every((thread) => isBusy(thread, hasProcessor))
  if (areAllBusy && group.starting === 0) startThreads(group, Math.max(group.busy.size, 1))
  checkLater(group)
}

/**
 * Whether the thread's present run waits for something, or computes. One that seems to compute may itself wait for a
 * processor, for which a further thread would compete: unless there is a processor for each, only long ones count.
 */
function isBusy(thread: AgentThread, hasProcessor: boolean): boolean {
  const { elapsed, waited } = thread.timesOfRun()
  const isWaiting = waited >= START_AFTER_MS / 2
  return elapsed >= (isWaiting || hasProcessor ? START_AFTER_MS : LONG_RUN_MS)
}

/** Starts threads, as many at a time as can start at full speed, for runs that wait. */
function startThreads(group: Group, count: number): void {
  group.planned = Math.min(count, group.waiting.length)
  while (group.planned > 0 && group.starting < PROCESSORS) {
    group.planned -= 1
    group.starting += 1
    const thread = new AgentThread(group.options)
    void thread.whenStarted.then((hasStarted) => {
      group.starting -= 1
      // A run reports that its thread could not be started.
      if (hasStarted || group.waiting.length > 0) offer(group, thread)
      startThreads(group, group.planned)
      forgetInactive(group)
    })
  }
}

/** Gives the thread to the run that waits longest, or keeps it warm. */
function offer(group: Group, thread: AgentThread): void {
  const take = group.waiting.shift()
  if (take) take(thread)
  else keep(group.key, thread)
}

function takeIdle({ key }: Group): AgentThread | undefined {
  const index = idle.findLastIndex((entry) => entry.key === key && !entry.thread.isDestroyed)
  if (index === -1) return undefined
  const [entry] = idle.splice(index, 1)
  clearTimeout(entry?.timer)
  return entry?.thread
}

function keep(key: string, thread: AgentThread): void {
  const timer = setTimeout(() => endIdle(entry), IDLE_MS).unref()
  const entry = { key, thread, bytes: BARE_BYTES + thread.bytes, timer }
  idle.push(entry)
  let total = idle.reduce((sum, { bytes }) => sum + bytes, 0)
  while (total > MAX_IDLE_BYTES && idle.length > 1) {
    const [oldest] = idle as [IdleThread]
    total -= oldest.bytes
    endIdle(oldest)
  }
}

function endIdle(entry: IdleThread): void {
  clearTimeout(entry.timer)
  idle.splice(idle.indexOf(entry), 1)
  void entry.thread.destroy()
}
