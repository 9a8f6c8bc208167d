import { RUN_ID, type Trace, type TraceItem } from './trace.ts'

/** How a trace is drawn. `zoomedId`: the item that has the whole width; the run by default. */
export type View = { isWide: boolean; hidesWaits: boolean; isSlowestFirst: boolean; zoomedId: string }

export const WHOLE_RUN: View = { isWide: false, hidesWaits: false, isSlowestFirst: false, zoomedId: RUN_ID }

type Interval = readonly [start: number, end: number]

const isWait = ({ kind }: TraceItem): boolean => kind === 'wait' || kind === 'queue'

/** When a run waited for an item, or in it: a call that needs an approval begins when it has one. */
function waitOf(item: TraceItem, end: number): Interval | null {
  if (isWait(item)) return [item.start, item.end ?? end]
  const { call, step } = item
  if (!call?.approval || !step) return null
  return [Date.parse(step.finishedAt), call.approval.decision ? item.start : (item.end ?? end)]
}

export const hasWaits = ({ items, end }: Trace): boolean => items.some((item) => waitOf(item, end) !== null)

/** The times in which a run did nothing but wait, in order. @param end of items that continue */
function idleTimes({ items }: Trace, end: number): Interval[] {
  const sort = (intervals: Interval[]) => intervals.sort(([a], [b]) => a - b)
  const waits = sort(items.map((item) => waitOf(item, end)).filter((each) => each !== null))
  const isBusy = (item: TraceItem) =>
    item.id !== RUN_ID && !isWait(item) && !(item.call?.approval && !item.call.approval.decision)
  const busy = sort(items.filter(isBusy).map((item): Interval => [item.start, item.end ?? end]))
  const idle: Interval[] = []
  for (const [start, stop] of waits) {
    let at = Math.max(start, idle.at(-1)?.[1] ?? start)
    for (const [from, to] of busy) {
      if (to <= at || from >= stop) continue
      if (from > at) idle.push([at, from])
      at = to
    }
    if (at < stop) idle.push([at, stop])
  }
  return idle
}

/** Milliseconds that a time has on the axis: those since the epoch, without the waits that are hidden. */
export type Axis = { at: (time: number) => number; start: number; length: number }

/** @param end of the trace; it grows while the run is in progress */
export function toAxis(trace: Trace, { hidesWaits, zoomedId }: View, end: number): Axis {
  const idle = hidesWaits ? idleTimes(trace, end) : []
  const at = (time: number) =>
    time - idle.reduce((sum, [from, to]) => sum + Math.max(Math.min(time, to) - from, 0), 0)
  const zoomed = trace.items.find(({ id }) => id === zoomedId && id !== RUN_ID)
  const [first, last] = zoomed ? [zoomed.start, zoomed.end ?? end] : [trace.start, end]
  return { at, start: at(first), length: Math.max(at(last) - at(first), 1) }
}

/** The rows of a view. The slowest have no levels: first what continues, the oldest first. */
export function rowsOf(rows: TraceItem[], items: TraceItem[], view: View): TraceItem[] {
  const isShown = (item: TraceItem) => !(view.hidesWaits && isWait(item))
  if (!view.isSlowestFirst) return rows.filter(isShown)
  const lengthOf = ({ start, end }: TraceItem) => (end ?? Number.MAX_SAFE_INTEGER) - start
  const [run, ...others] = items.filter(isShown)
  const slowest = others.toSorted((a, b) => lengthOf(b) - lengthOf(a))
  return run ? [run, ...slowest.map((item) => ({ ...item, children: 0 }))] : []
}

/** Round numbers of milliseconds at which a scale of this length has marks: at most four. */
export function scaleMarks(lengthMs: number): number[] {
  const units = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 1.5e4, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5,
  ]
  const unit = units.find((each) => lengthMs / each <= 4) ?? Math.ceil(lengthMs / 4 / 36e5) * 36e5
  return Array.from({ length: Math.floor(lengthMs / unit) + 1 }, (_, index) => index * unit)
}
