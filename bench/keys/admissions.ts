import { MAX_OPEN_EXECUTIONS } from '../../lib/core/limits.ts'
import { SHARDS } from '../../lib/dynamodb/keys.ts'
import { admission } from '../../lib/engine/submit/admission.ts'
import { PARTITION } from './limits.ts'
import { drawer, type Skew, seeded } from './population.ts'

/** Of one process of `run-agent`: Lambda gives each environment at most 10 requests a second. */
export type Intake = { organizations: number; skew: Skew; runsASecond: number }

const PROCESSES = 20
/** The first half is not looked at: every process begins without a count. */
const RUNS = 8_000

/** How often the cap on open executions is counted for each run, when an organization is far below it. */
export async function countsPerRun(
  { organizations, skew, runsASecond }: Intake,
  seed: number,
): Promise<number> {
  const random = seeded(seed)
  const draw = drawer(skew, organizations, random)
  const lastsMs = (RUNS / (PROCESSES * runsASecond)) * 1000
  let now = 0
  let counts = 0
  const countOpen = async () => {
    if (now > lastsMs / 2) counts++
    return 0
  }
  const system = { now: () => now, newId: String }
  const processes = Array.from({ length: PROCESSES }, () =>
    admission({ executions: { countOpen }, system }, MAX_OPEN_EXECUTIONS),
  )
  for (let number = 0; number < RUNS; number++) {
    now = (number / RUNS) * lastsMs
    const admit = processes[Math.floor(random() * PROCESSES)]
    await admit?.(`organization-${draw()}`, async () => undefined)
  }
  return counts / (RUNS / 2)
}

/**
 * Runs a second of one organization at which counting its open executions takes more than a shard of the index can be
 * read: each count reads all entries of one shard at random, eventually consistently (8 kB a unit), and there are as many
 * open as begin while one takes `seconds`. That is while the cap is far; near it all shards are read.
 */
export function countingBreaksAt(p: { entryBytes: number; seconds: number; countsPerRun: number }): number {
  const unitsPerEntry = p.entryBytes / 8_192
  return Math.sqrt((PARTITION.reads * SHARDS ** 2) / (p.seconds * unitsPerEntry * p.countsPerRun))
}
