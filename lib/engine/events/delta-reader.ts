import type { DeltaEvent } from '../../core/step.ts'
import { DELTA_MS, DeltaCursor, type LiveResponse, liveResponseOf, onceLiveChanged } from './live-response.ts'

/** The deltas of a run in this process for one reader, at most every `DELTA_MS`. */
export class DeltaReader {
  private readonly id: string
  private readonly cursor = new DeltaCursor()
  /** Kept after the run has ended: it tells whether its last deltas are void. */
  private live: LiveResponse | undefined
  private takenAt = Number.NEGATIVE_INFINITY
  private ignore = () => {}

  constructor(executionId: string) {
    this.id = executionId
  }

  /** @param seen the last step that the reader has */
  take(seen: number): DeltaEvent[] {
    if (performance.now() < this.takenAt + DELTA_MS) return []
    this.live = liveResponseOf(this.id) ?? this.live
    const events = this.live ? this.cursor.take(this.live, seen) : []
    if (events.length > 0) this.takenAt = performance.now()
    return events
  }

  /** Resolves when the next events may be taken, if there are any. */
  onceDue(): Promise<void> {
    this.ignore()
    const { promise, resolve } = Promise.withResolvers<void>()
    const waitMs = this.takenAt + DELTA_MS - performance.now()
    if (waitMs > 0) setTimeout(resolve, waitMs)
    else this.ignore = onceLiveChanged(this.id, resolve)
    return promise
  }

  /** To be called when the reader has left. */
  stop(): void {
    this.ignore()
  }
}
