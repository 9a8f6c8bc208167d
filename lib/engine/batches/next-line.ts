import {
  type Batch,
  type Lane,
  lineExecutionId,
  linesLeft,
  NO_TOTALS,
  sumTotals,
  totalsOf,
} from '../../core/batch.ts'
import type { ExecutionSummary } from '../../core/execution.ts'
import { isQueued } from '../../core/wait.ts'
import type { BatchEngine } from './batch-engine.ts'

/** Lines whose executions one request looks for. */
const PROBES = 25

/**
 * The lane after its line, which it counts if it has executed it itself. Then follows its next own line, or else one
 * that another lane has not begun.
 * @param execution of its line; null if there is none
 */
export async function nextOf(
  engine: BatchEngine,
  batch: Batch,
  lane: Lane,
  execution: ExecutionSummary | null,
): Promise<Lane> {
  const { waits: _, ...left } = lane
  // All that is known of the line is in this lane.
  if (lane.number >= batch.lanes)
    return { ...left, ...(execution ? totalsOf(execution) : NO_TOTALS), line: null }
  const isOwn = execution?.batch?.lane === lane.number
  const counted = isOwn ? { ...left, ...countOf(left, execution) } : left
  if (batch.stopped) return { ...counted, line: null }
  // Whoever has taken a line of this lane has taken those after it before.
  const own = isOwn ? linesLeft(batch, lane)[0] : await findFirst(engine, batch, lane)
  if (own !== undefined) return { ...counted, line: own, next: own + batch.lanes }
  return { ...counted, line: await findOther(engine, batch, lane), next: batch.lines }
}

/** A line that has waited is counted in a lane of its own. */
const countOf = (lane: Lane, execution: ExecutionSummary): Partial<Lane> =>
  hasWaited(execution) ? { handedOver: (lane.handedOver ?? 0) + 1 } : sumTotals([lane, totalsOf(execution)])

/** Once a run has waited, it says so until its end. One that waited for its turn had not begun. */
export const hasWaited = ({ suspension, waitedMs }: ExecutionSummary): boolean =>
  suspension ? !isQueued(suspension) : waitedMs > 0

/** The first own line that no other lane has taken. */
async function findFirst(engine: BatchEngine, batch: Batch, lane: Lane): Promise<number | undefined> {
  const lines = linesLeft(batch, lane)
  for (let start = 0; start < lines.length; start += PROBES) {
    const [first] = await findMissing(engine, batch, lines.slice(start, start + PROBES))
    if (first !== undefined) return first
  }
  return undefined
}

/** A line that another lane has not begun, of its last ones; null if there is none. */
async function findOther(engine: BatchEngine, batch: Batch, { number }: Lane): Promise<number | null> {
  // What they had begun a moment ago, they have begun: only what is left is looked for.
  const lanes = (await engine.listed.fetch(batch.id, { context: batch })) ?? []
  const others = lanes
    .filter((lane) => lane.number !== number && lane.line !== null)
    .map((lane) => ({ lines: linesLeft(batch, lane), order: 0 }))
    .filter(({ lines }) => lines.length > 0)
    // Those with many lines first, but not the same one for all lanes that look at the same time.
    .map(({ lines }) => ({ lines, order: lines.length * Math.random() }))
    .sort((a, b) => b.order - a.order)
  for (const { lines } of others) {
    const missing = await findLast(engine, batch, lines)
    const chosen = missing[Math.floor(Math.random() * missing.length)]
    if (chosen !== undefined) return chosen
  }
  return null
}

/** The last of these lines that have no execution: some of them, because those after them were taken before. */
async function findLast(engine: BatchEngine, batch: Batch, lines: number[]): Promise<number[]> {
  let [from, to] = [0, lines.length]
  while (to - from > 2 * PROBES) {
    const step = Math.ceil((to - from) / PROBES)
    const positions = Array.from({ length: PROBES }, (_, index) => to - 1 - index * step)
    const probed = positions
      .filter((position) => position >= from)
      .map((position) => lines[position] as number)
    const last = (await findMissing(engine, batch, probed))[0]
    if (last === undefined) return []
    const position = lines.indexOf(last)
    ;[from, to] = [Math.max(position - PROBES, 0), Math.min(position + step, to)]
  }
  return findMissing(engine, batch, lines.slice(from, to))
}

/** Those of the lines without an execution, in the same order. */
async function findMissing({ executions }: BatchEngine, batch: Batch, lines: number[]): Promise<number[]> {
  const ids = lines.map((line) => lineExecutionId(batch, line))
  const existing = await executions.findExisting({ ids, orRefused: true })
  return lines.filter((_, index) => !existing.has(ids[index] as string))
}
