import { attemptOf, type DeltaEvent, type ExecutionEvent } from '../../core/step.ts'
import {
  DELTA_MS,
  DeltaCursor,
  type LiveResponse,
  liveResponseOf,
  onceLiveChanged,
} from '../checkpoints/live-response.ts'
import type { ExecutionFeed } from './execution-feed.ts'

/** The deltas of a run for one reader, at most every `DELTA_MS`. */
export class DeltaReader {
  private readonly id: string
  private readonly feed: ExecutionFeed
  private readonly cursor = new DeltaCursor()
  /** The last one in this process, kept after the run has ended: it tells whether its last deltas are void. */
  private live: LiveResponse | undefined
  private takenAt = Number.NEGATIVE_INFINITY
  private ignore = () => {}
  private readonly unwatch: () => void

  constructor(executionId: string, feed: ExecutionFeed) {
    this.id = executionId
    this.feed = feed
    this.unwatch = feed.watch()
  }

  /** @param seen the last step that the reader has */
  take(seen: number): DeltaEvent[] {
    if (performance.now() < this.takenAt + DELTA_MS) return []
    this.live = liveResponseOf(this.id) ?? this.live
    const events = [this.live, this.feed.response].flatMap((each) =>
      each ? this.cursor.take(each, seen) : [],
    )
    if (events.length > 0) this.takenAt = performance.now()
    return events
  }

  /** The events, with a `reset` before a step that makes deltas void. */
  before(events: ExecutionEvent[]): ExecutionEvent[] {
    return events.flatMap((event): ExecutionEvent[] => {
      if (event.kind !== 'step') return [event]
      const { step } = event.recorded
      return [...this.cursor.supersede({ number: step.number, attempt: attemptOf(step) }), event]
    })
  }

  /** Calls the listener when the next events may be taken, if there are any. */
  onceDue(listener: () => void): void {
    this.ignore()
    const waitMs = this.takenAt + DELTA_MS - performance.now()
    if (waitMs > 0) {
      const timer = setTimeout(listener, waitMs)
      this.ignore = () => clearTimeout(timer)
    } else this.ignore = onceLiveChanged(this.id, listener)
  }

  /** To be called when the reader has left. */
  stop(): void {
    this.ignore()
    this.unwatch()
  }
}
