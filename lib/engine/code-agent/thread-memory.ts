import { totalmem } from 'node:os'
import { GARBAGE_BYTES } from './thread/protocol.ts'

const MB = 2 ** 20

/** Of this process: that of the Lambda function, the container or the machine. */
const FUNCTION_MB = Number(process.env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE) || Number.POSITIVE_INFINITY
export const PROCESS_MEMORY = Math.min(
  totalmem(),
  process.constrainedMemory() || Number.POSITIVE_INFINITY,
  FUNCTION_MB * MB,
)

type Thread = {
  memoryMb: number
  /** Bytes of the heap and of buffers, wasm memory included; also while the agent blocks the thread. */
  measureMemory: () => Promise<{ heap: number; external: number }>
  /** Ends the thread, and its run with an error. */
  endForMemory: () => Promise<void>
}

const CHECK_MS = 50
/** Threads are measured after the process has grown by this much: a measurement interrupts the agent. */
const GROWTH_BYTES = 8 * MB
/** Of the heap, which may contain garbage, and of heap and buffers together. */
const MAX_FACTOR = 1.5
const MAX_PROCESS_SHARE = 0.9

const watched = new Set<Thread>()
let timer: NodeJS.Timeout | undefined
/** Resident bytes of the process, the least since threads were measured. */
let lowest = 0
let isMeasuring = false

/**
 * Ends the thread if its heap and buffers, without what may be garbage, take more than its limit. If the process runs
 * out of memory, the largest of the threads with a run is ended.
 * @returns ends the watch
 */
export function watchMemory(thread: Thread): () => void {
  if (!timer) {
    lowest = process.memoryUsage.rss()
    timer = setInterval(() => void check(), CHECK_MS).unref()
  }
  watched.add(thread)
  return () => watched.delete(thread)
}

async function check(): Promise<void> {
  if (watched.size === 0) {
    clearInterval(timer)
    timer = undefined
    return
  }
  const resident = process.memoryUsage.rss()
  lowest = Math.min(lowest, resident)
  const isFull = resident > PROCESS_MEMORY * MAX_PROCESS_SHARE
  if (isMeasuring || (resident - lowest < GROWTH_BYTES && !isFull)) return
  isMeasuring = true
  const sizes = await Promise.all([...watched].map(measure))
  isMeasuring = false
  // A map that doubles itself answers only afterwards, when the process does not grow.
  if (sizes.every(({ hasAnswered }) => hasAnswered)) lowest = resident
  for (const { thread, heap, external } of sizes) {
    const limit = thread.memoryMb * MB
    const buffers = Math.max(external - GARBAGE_BYTES, 0)
    if (buffers > limit || heap + buffers > limit * MAX_FACTOR) void thread.endForMemory()
  }
  const [largest] = sizes.sort((a, b) => b.heap + b.external - a.heap - a.external)
  if (isFull) void largest?.thread.endForMemory()
}

/** A thread that cannot answer in time is in native code, or has ended. */
async function measure(thread: Thread) {
  const sizes = await Promise.race([
    thread.measureMemory().catch(() => null),
    new Promise<null>((resolve) => setTimeout(() => resolve(null), CHECK_MS).unref()),
  ])
  return { thread, hasAnswered: sizes !== null, ...(sizes ?? { heap: 0, external: 0 }) }
}
