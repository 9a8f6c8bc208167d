import pLimit from 'p-limit'
import type { System } from '../../core/ports/system.ts'
import type { UsagePosition, UsageSlot, UsageStore } from '../../core/ports/usage.ts'
import { DEPLOYMENT, FOLD_DELAY_MS, INTERVAL_MS, startOf, type UsageKey } from '../../core/usage.ts'
import { toUsageRows, UsageSums } from '../../core/usage-rows.ts'

type Params = {
  usage: Omit<UsageStore, 'read'>
  system: Pick<System, 'now'>
  /** Kept by the caller from one sweep to the next. */
  memory: FoldMemory
}

/** The end of the last minute that this process has folded before it was final. */
export type FoldMemory = { provisional: number }
export const newFoldMemory = (): FoldMemory => ({ provisional: 0 })

/** The next sweep continues: after an outage, there may be more than what one can fold before its timeout. */
const MAX_FOLD_MS = 25_000
const MAX_REQUESTS = 25
const { hour: HOUR, day: DAY } = INTERVAL_MS

/**
 * Adds up what executions have used: the entries of each minute, then the minutes of each hour and the hours of each
 * day. Totals are replaced, never incremented: a sweep that is repeated, or that runs beside another one, writes the
 * same. A minute is final once nothing can enter it any more; those after it are folded as they are, and again later.
 * @returns how long ago the last minute ended whose totals are final, in milliseconds; 0 without any entry so far
 * @throws Unavailable
 */
export async function foldUsage({ usage, system, memory }: Params): Promise<number> {
  const startedAt = system.now()
  const isOver = () => system.now() - startedAt >= MAX_FOLD_MS
  const final = startOf('minute', startedAt - FOLD_DELAY_MS)
  let position = (await usage.getPosition()) ?? (await findFirst(usage, final))
  const move = async (moved: Partial<UsagePosition>) => {
    position = { ...(position as UsagePosition), ...moved }
    await usage.setPosition({ position })
  }
  while (position && !isOver()) {
    const { minute, hour, day }: UsagePosition = position
    if (day + DAY <= hour) {
      await rollUp(usage, { interval: 'day', start: day, readAt: startedAt })
      await move({ day: day + DAY })
    } else if (hour + HOUR <= minute) {
      await rollUp(usage, { interval: 'hour', start: hour, readAt: startedAt })
      await move({ hour: hour + HOUR })
    } else if (minute < final) {
      // Not beyond the hour: it is rolled up before the next one begins.
      const before = Math.min(final, startOf('hour', minute) + HOUR)
      const range = { from: minute, before, readAt: startedAt, isFinal: true }
      for await (const until of foldMinutes(usage, range)) {
        await move({ minute: until })
        if (isOver()) break
      }
    } else break
  }
  if (!isOver()) {
    // The minute before once more: the index may have got some of its entries late.
    const from = Math.max(final, memory.provisional - INTERVAL_MS.minute)
    const range = { from, before: startOf('minute', startedAt), readAt: startedAt, isFinal: false }
    for await (const until of foldMinutes(usage, range)) {
      memory.provisional = until
      if (isOver()) break
    }
  }
  return position ? startedAt - position.minute : 0
}

/** The intervals with the first entry; null if there is none that is final. */
async function findFirst(usage: Params['usage'], final: number): Promise<UsagePosition | null> {
  for await (const { entries } of usage.readEntries({ from: 0, before: final })) {
    const first = entries.reduce((earliest, { at }) => Math.min(earliest, at), final)
    if (first < final)
      return { minute: startOf('minute', first), hour: startOf('hour', first), day: startOf('day', first) }
  }
  return null
}

/** By organization. */
type Sums = Map<string, UsageSums<UsageKey>>
type Reading = Pick<Parameters<UsageStore['put']>[0], 'readAt' | 'isFinal'>

/**
 * Replaces the totals of the minutes from `from` on and before `before`, in order. Yields the end of those that are
 * complete. What was read of later ones is kept until they are.
 */
async function* foldMinutes(
  usage: Params['usage'],
  { from, before, ...reading }: { from: number; before: number } & Reading,
): AsyncGenerator<number> {
  if (from >= before) return
  const minutes = new Map<number, Sums>()
  let done = from
  async function* putUntil(end: number) {
    const complete = [...minutes.keys()].filter((start) => start < end).sort((a, b) => a - b)
    for (const start of complete) {
      await putAll(usage, minutes.get(start) as Sums, { interval: 'minute', start, ...reading })
      minutes.delete(start)
    }
    if (end > done) yield end
    done = Math.max(done, end)
  }
  for await (const { entries, until } of usage.readEntries({ from, before })) {
    for (const entry of entries) {
      const sums = getOrAdd(minutes, startOf('minute', entry.at), () => new Map())
      getOrAdd(sums, entry.organizationId, () => new UsageSums<UsageKey>()).add(toUsageRows(entry))
    }
    yield* putUntil(startOf('minute', until))
  }
  yield* putUntil(before)
}

/** Stores the sums of the minutes of an hour, or of the hours of a day, which are final. */
async function rollUp(
  usage: Params['usage'],
  { interval, start, readAt }: { interval: 'hour' | 'day'; start: number; readAt: number },
): Promise<void> {
  const slot = { interval, start, readAt, isFinal: true }
  const all = new UsageSums<UsageKey>([])
  let sums: Sums = new Map()
  const write = async () => {
    for (const { rows } of sums.values()) all.add(rows)
    await putAll(usage, sums, slot)
    sums = new Map()
  }
  for await (const { organizationId, rows } of usage.readParts({ interval, start })) {
    // Those of one organization follow each other.
    if (!sums.has(organizationId) && sums.size >= MAX_REQUESTS) await write()
    getOrAdd(sums, organizationId, () => new UsageSums<UsageKey>()).add(rows)
  }
  await write()
  const rows = all.rows.map((row) => ({ ...row, ...ALL_KEYS }))
  if (rows.length > 0) await usage.put({ organizationId: DEPLOYMENT, rows, ...slot })
}

const ALL_KEYS = {
  ...{ tenantId: null, agentId: DEPLOYMENT, versionId: DEPLOYMENT },
  ...{ model: null, tokenId: null, scorer: null },
}

async function putAll(usage: Params['usage'], sums: Sums, slot: UsageSlot & Reading): Promise<void> {
  const limit = pLimit(MAX_REQUESTS)
  await Promise.all(
    [...sums].map(([organizationId, { rows }]) => limit(() => usage.put({ organizationId, rows, ...slot }))),
  )
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  const value = map.get(key) ?? create()
  map.set(key, value)
  return value
}
