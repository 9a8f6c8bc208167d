import { setTimeout as sleep } from 'node:timers/promises'
import type { Context, Input, Output } from './agent.types.ts'

const MAX_SECONDS = 3600

export default async function run({ seconds }: Input, { signal }: Context): Promise<Output> {
  // Input that does not match the schema runs, too.
  if (typeof seconds !== 'number' || !(seconds >= 0 && seconds <= MAX_SECONDS)) {
    throw new RangeError(`seconds must be a number from 0 to ${MAX_SECONDS}.`)
  }
  const startedAt = performance.now()
  await sleep(seconds * 1000, undefined, { signal })
  return { waitedSeconds: Math.round(performance.now() - startedAt) / 1000 }
}
