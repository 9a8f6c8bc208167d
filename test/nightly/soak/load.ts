import { setTimeout as sleep } from 'node:timers/promises'

export type Operations<Name extends string = string> = {
  next: () => Name
  /** @throws an Error when a response is not the expected one */
  perform: (name: Name) => Promise<void>
}

/** One operation; `ms` counts from when it was due. */
export type Sample = { name: string; ms: number }

export type Load = { samples: Sample[]; errors: string[]; notStarted: number }

const MAX_IN_FLIGHT = 256
const TICK_MS = 5
const MAX_ERRORS = 100

type Options<Name extends string> = {
  operations: Operations<Name>
  durationMs: number
  signal: AbortSignal
  /** What the results are added to, so that they can be watched. */
  load: Load
}

export const newLoad = (): Load => ({ samples: [], errors: [], notStarted: 0 })

/**
 * Starts operations at a fixed rate, whether or not earlier ones have ended, and waits until all have. An operation
 * that is due while too many are in flight starts later; its latency includes that.
 */
export async function generatePacedLoad<Name extends string>({
  perSecond,
  ...options
}: Options<Name> & { perSecond: number }) {
  const { durationMs, signal, load } = options
  const inFlight = new Set<Promise<void>>()
  const startedAt = performance.now()
  const dueAt = (index: number) => startedAt + (index * 1000) / perSecond
  const total = Math.floor((durationMs / 1000) * perSecond)
  let index = 0
  const isOver = () => performance.now() > startedAt + durationMs && inFlight.size >= MAX_IN_FLIGHT
  while (index < total && !isOver() && !signal.aborted) {
    for (; index < total && dueAt(index) <= performance.now() && inFlight.size < MAX_IN_FLIGHT; index++) {
      const task = perform(options, dueAt(index)).finally(() => inFlight.delete(task))
      inFlight.add(task)
    }
    await sleep(TICK_MS)
  }
  load.notStarted += total - index
  await Promise.all(inFlight)
}

/** Keeps so many operations in flight. @returns how many ended per second */
export async function measureCapacity<Name extends string>(
  options: Options<Name> & { concurrency: number },
): Promise<number> {
  const { concurrency, durationMs, signal, load } = options
  const startedAt = performance.now()
  const repeat = async () => {
    while (performance.now() < startedAt + durationMs && !signal.aborted)
      await perform(options, performance.now())
  }
  await Promise.all(Array.from({ length: concurrency }, repeat))
  return load.samples.length / ((performance.now() - startedAt) / 1000)
}

async function perform<Name extends string>(
  { operations, load }: Options<Name>,
  dueAt: number,
): Promise<void> {
  const name = operations.next()
  try {
    await operations.perform(name)
    load.samples.push({ name, ms: performance.now() - dueAt })
  } catch (error) {
    if (load.errors.length < MAX_ERRORS) load.errors.push(`${name}: ${(error as Error).message}`)
  }
}
