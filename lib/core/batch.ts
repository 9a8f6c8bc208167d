import type { ExecutionResult, ExecutionSummary } from './execution.ts'
import { CANCELLED, type ExecutionError } from './execution-errors.ts'
import { derivedId } from './ids.ts'
import type { Json, JsonObject } from './json/json.ts'
import { DAY_MS } from './limits.ts'
import { roundDollars, usageOfTree } from './model-usage.ts'
import { PayloadTooLarge } from './request-errors.ts'
import type { SelectedBy } from './rollout.ts'
import type { BatchOptions } from './run-options.ts'
import {
  addVerdicts,
  judgementOf,
  type TrialSettings,
  type TrialSums,
  type Verdict,
  type Verdicts,
} from './trial.ts'
import type { Wait } from './wait.ts'

/** Lines of a batch, and bytes of JSON of their inputs that one block of them has, unless a line is larger alone. */
export const MAX_BATCH_LINES = 10_000
export const BLOCK = { lines: 100, bytes: 250_000 } as const

/** @throws PayloadTooLarge */
export function assertMaxLines(lines: number): void {
  if (lines <= MAX_BATCH_LINES) return
  throw new PayloadTooLarge(
    `The batch has ${lines} lines; at most ${MAX_BATCH_LINES} are allowed. Split it into several batches.`,
  )
}

/** Lines of a batch that may be open at the same time. */
export const MAX_CONCURRENCY = { min: 1, max: 500, default: 50 } as const

/** Lines that have not started so long after the batch was accepted are not started any more. */
export const BATCH_DEADLINE_MS = 7 * DAY_MS

export type BatchStatus = 'IN_PROGRESS' | 'CANCELLING' | 'ENDED'

/** What a client sends for one execution. */
export type LineInput = { customId: string; input: JsonObject }

/** A line of a request, or an item of its list, counted from 1. `problem`: why it is not JSON, as a predicate. */
export type ReceivedLine = { line: number } & ({ value: Json } | { problem: string })

/**
 * Many inputs for one version. Times are ISO 8601. Line `n` belongs to lane `n % lanes`: the end of a line starts the
 * next one of its lane. A lane without lines takes lines of others, from their end.
 */
export type Batch = {
  id: string
  organizationId: string
  agentId: string
  versionId: string
  /** Why it has its version. */
  selectedBy: SelectedBy
  isDraft: boolean
  tenantId: string | null
  /** The token that started it. */
  tokenId: string | null
  options: BatchOptions
  /** Receives `batch.ended`; null without one. */
  webhookUrl: string | null
  /** Of a trial, whose lines name their originals and have no inputs; null for any other batch. */
  trial: TrialSettings | null
  /** Of a trial that has ended. */
  sums: TrialSums | null
  /** The batch whose failed lines it repeats. */
  retryOf: string | null
  /** The reservation of the key that its request had, which goes with it. */
  idempotencyId: string | null
  lines: number
  /** The first line of each block, from 0. `writer`: of a trial, who has selected and written its lines. */
  blocks: { first: number; chunks: number; writer?: string }[]
  lanes: number
  maxCostUsd: number | null
  status: BatchStatus
  /** Why lines that have not started do not start any more; null as long as they do. */
  stopped: ExecutionError | null
  createdAt: string
  endedAt: string | null
  /** What became of its lines; null until it has ended. */
  totals: LaneTotals | null
  /** When the timer looks at it. Milliseconds since the epoch; null when it has ended. */
  openUntil: number | null
}

/**
 * Of the lines that have ended. `failed`: without those that were cancelled. `costUsd`: with those of the agents that
 * they called. `verdicts`: of a trial.
 */
export type LaneTotals = {
  succeeded: number
  failed: number
  cancelled: number
  costUsd: number
  verdicts?: Verdicts
}

/**
 * One of the lines of a batch that are open at the same time. A line that has given its lane to the next one has a lane
 * of its own, whose number is that of the line after those of all lanes.
 */
export type Lane = LaneTotals & {
  number: number
  /** The line that it executes, or is about to start; null: it has none left. The totals are those before it. */
  line: number | null
  /** The next one of its own lines. */
  next: number
  /** Lines before it that have lanes of their own, which count them. */
  handedOver?: number
  /** What its line waits for; absent while it runs. Of a line with a lane of its own, `costUsd` is what it has cost. */
  waits?: LineWait[]
}

/** What an agent that the line has called waits for. */
export type LineWait = Pick<Wait, 'name'> & { kind: Exclude<Wait['kind'], 'execution'> }

/** What lines of a batch wait for, and how many of them. */
export type WaitingFor = LineWait & { lines: number }

/** Kinds and names of waits that a batch shows. */
const MAX_WAITING_FOR = 20

export function waitingIn(lanes: Lane[]): { waiting: number; waitingFor: WaitingFor[] } {
  const waits = lanes.flatMap(({ line, waits }) => (line !== null && waits) || [])
  const groups = Map.groupBy(waits, ({ kind, name }) => `${kind} ${name}`)
  const waitingFor = [...groups.values()].map((each) => ({ ...(each[0] as LineWait), lines: each.length }))
  return {
    waiting: lanes.filter(({ line, waits }) => line !== null && waits).length,
    waitingFor: waitingFor.sort((a, b) => b.lines - a.lines).slice(0, MAX_WAITING_FOR),
  }
}

export const NO_TOTALS: LaneTotals = { succeeded: 0, failed: 0, cancelled: 0, costUsd: 0 }

export const sumTotals = (totals: LaneTotals[]): LaneTotals =>
  totals.reduce(
    (sum, each) => ({
      succeeded: sum.succeeded + each.succeeded,
      failed: sum.failed + each.failed,
      cancelled: sum.cancelled + each.cancelled,
      costUsd: roundDollars(sum.costUsd + each.costUsd),
      ...((sum.verdicts || each.verdicts) && { verdicts: addVerdicts(sum.verdicts, each.verdicts) }),
    }),
    NO_TOTALS,
  )

/** A batch, and what has become of its lines so far. */
export type CountedBatch = { batch: Batch; totals: LaneTotals } & ReturnType<typeof waitingIn>

/** What became of a line. `executionId` is null without an execution. */
export type LineResult = Omit<ExecutionResult, 'id'> & { customId: string; executionId: string | null }

/** A line of a trial. `execution`: null for one that has not begun, or whose execution was deleted. */
export type TrialItem = {
  originalExecutionId: string
  execution: ExecutionSummary | null
  /** Null while it has none. */
  verdict: Verdict | null
  /** Why there is no execution. */
  error: ExecutionError | null
}

/** The totals of a line that has ended, with its scorers. */
export function totalsOf(ended: ExecutionSummary): LaneTotals {
  const kind =
    ended.status === 'SUCCESS' ? 'succeeded' : ended.error?.code === CANCELLED.code ? 'cancelled' : 'failed'
  const costUsd = roundDollars((usageOfTree(ended)?.costUsd ?? 0) + (ended.judgement?.scoring?.costUsd ?? 0))
  const verdicts = ended.source === 'TRIAL' && { verdicts: { [judgementOf(ended).verdict]: 1 } }
  return { ...NO_TOTALS, [kind]: 1, costUsd, ...verdicts }
}

/** As it is before its first line has ended: then it is not stored. */
export const firstLane = (number: number, { lanes, lines }: Pick<Batch, 'lanes' | 'lines'>): Lane => ({
  number,
  line: number < lanes ? number : number - lanes,
  next: number < lanes ? number + lanes : lines,
  ...NO_TOTALS,
})

/** The lane of a line that has given its first one to the next line. */
export const ownLaneOf = ({ lanes }: Pick<Batch, 'lanes'>, line: number): number => lanes + line

/** The execution of a line: the same id whoever starts it. */
export const lineExecutionId = ({ id, createdAt }: Pick<Batch, 'id' | 'createdAt'>, line: number): string =>
  derivedId(Date.parse(createdAt), `${id}/${line}`)

/** The lines of its own that a lane has not begun, in order. Other lanes may have taken some of them. */
export const linesLeft = (
  { lanes, lines }: Pick<Batch, 'lanes' | 'lines'>,
  { next }: Pick<Lane, 'next'>,
): number[] =>
  Array.from({ length: Math.max(Math.ceil((lines - next) / lanes), 0) }, (_, index) => next + index * lanes)

/** The block of a line. */
export const blockOf = ({ blocks }: Pick<Batch, 'blocks'>, line: number): number =>
  blocks.findLastIndex(({ first }) => first <= line)
