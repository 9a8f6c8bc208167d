import type { Batch } from '../../clients/typescript/src/index.ts'
import { onInterrupt, write } from '../terminal.ts'
import { openResults, type ResultsFile } from './results.ts'

/** Between two lines of a log, and two changes of a bar. */
const PAUSE_MS = { log: 10_000, bar: 100 } as const
const BAR_WIDTH = 30
const CLEAR_LINE = '\r\x1b[2K'

const number = (value: number) => value.toLocaleString('en-US')

/** A batch or a trial. */
type Running = Pick<Batch, 'id' | 'lines' | 'counts' | 'costUsd'> &
  Partial<Pick<Batch, 'waiting' | 'waitingFor'>>

/** Lines that have ended, of how many of them are known. */
type Counts = {
  ended: number
  failed: number
  waiting: number
  /** What for: kinds of waits. */
  waitingFor: string[]
  costUsd: number
  total: number | undefined
}

/** Shows on standard error how far batches are: a bar in a terminal, else a line now and then. */
class Progress {
  private readonly isTerminal = process.stderr.isTTY
  private readonly batches = new Map<string, Running>()
  private shownAt = this.isTerminal ? 0 : performance.now()
  private shown = ''

  private readonly lines: number | undefined

  /** @param lines in all batches, if that is known before they are started */
  constructor(lines?: number) {
    this.lines = lines
  }

  /** @returns how many lines the batches have */
  update(batch: Running): number {
    this.batches.set(batch.id, batch)
    this.show()
    return [...this.batches.values()].reduce((sum, { lines }) => sum + lines, 0)
  }

  private show(): void {
    const now = performance.now()
    if (now - this.shownAt < PAUSE_MS[this.isTerminal ? 'bar' : 'log']) return
    const text = this.isTerminal ? toBar(this.counts()) : describe(this.counts())
    if (text === this.shown) return
    this.shown = text
    this.shownAt = now
    process.stderr.write(this.isTerminal ? CLEAR_LINE + text : `${text}\n`)
  }

  /** Removes the bar. */
  stop(): void {
    if (this.isTerminal && this.shown) process.stderr.write(CLEAR_LINE)
    this.shown = ''
  }

  private counts(): Counts {
    const all = [...this.batches.values()]
    const sum = (of: (batch: Running) => number) => all.reduce((total, batch) => total + of(batch), 0)
    return {
      ended: sum(({ counts }) => counts.SUCCESS + counts.ERROR),
      failed: sum(({ counts }) => counts.ERROR),
      waiting: sum(({ waiting = 0 }) => waiting),
      waitingFor: [...new Set(all.flatMap(({ waitingFor = [] }) => waitingFor.map(({ kind }) => kind)))],
      costUsd: sum(({ costUsd }) => costUsd),
      total: this.lines ?? (all.length === 1 ? all[0]?.lines : undefined),
    }
  }
}

function describe({ ended, failed, waiting, waitingFor, costUsd, total }: Counts): string {
  const share = total === undefined ? '' : ` of ${number(total)} (${Math.floor((ended / total) * 100)} %)`
  const failures = failed > 0 ? `, ${number(failed)} failed` : ''
  const cost = costUsd > 0 ? `, $${costUsd.toFixed(costUsd < 1 ? 4 : 2)}` : ''
  const waits = waiting > 0 ? `, ${number(waiting)} waiting (${waitingFor.join(', ')})` : ''
  return `${number(ended)}${share} ended${failures}${waits}${cost}`
}

function toBar(counts: Counts): string {
  const { ended, total } = counts
  const width = Math.floor(total ? (ended / total) * BAR_WIDTH : 0)
  const bar = total === undefined ? '' : `[${'█'.repeat(width)}${'·'.repeat(BAR_WIDTH - width)}] `
  const text = bar + describe(counts)
  // A line that wraps cannot be cleared.
  return text.slice(0, (process.stderr.columns || 80) - 1)
}

type Waiting = {
  /** Where results go. */
  out: string
  /** Lines of all batches, if that is known. */
  lines?: number | undefined
  /** What Ctrl-C leaves, and how to come back. */
  describeStop: () => string
}

/** Shows how far batches are while `work` waits for them. What ends it early discards the file. */
export async function whileWaiting<T>(
  { out, lines, describeStop }: Waiting,
  work: (progress: Progress, file: ResultsFile) => Promise<T>,
): Promise<T> {
  const file = await openResults(out)
  const progress = new Progress(lines)
  const removeCleanup = onInterrupt(async () => {
    progress.stop()
    await file.discard()
    await write(process.stderr, `${describeStop()}\n`)
  })
  try {
    return await work(progress, file)
  } catch (error) {
    await file.discard()
    throw error
  } finally {
    removeCleanup()
    progress.stop()
  }
}
