import { EventEmitter } from 'node:events'
import type { ResponsePart } from '../../core/model.ts'
import type { DeltaEvent } from '../../core/step.ts'
import { MaskedStream, type SecretMask } from '../../tools/secret-mask.ts'

/** Characters of a response that are shown while it arrives; the step has the rest. */
const MAX_SHOWN = 1_000_000

/** Between two events `delta` for one reader: at most 20 a second. */
export const DELTA_MS = 50

/** By the execution: the responses that models write in this process. */
const live = new Map<string, LiveResponse>()
const changes = new EventEmitter().setMaxListeners(0)

/** The present response of a run in this process. */
export const liveResponseOf = (executionId: string): LiveResponse | undefined => live.get(executionId)

/** Calls the listener at the next change of the present response. @returns what ends that */
export function onceLiveChanged(executionId: string, listener: () => void): () => void {
  changes.once(executionId, listener)
  return () => changes.off(executionId, listener)
}

/** @param firstTry higher for each later worker of the run */
export function openLiveResponse(params: LiveParams): LiveResponse {
  const opened = new LiveResponse(params)
  live.set(params.executionId, opened)
  return opened
}

type LiveParams = { executionId: string; firstTry: number; mask: SecretMask }

type ShownPart = { call: { id: string; name: string } | null; text: string; masked: MaskedStream }

/**
 * The response that a model is writing for a run, so far. Readers take what they lack at their own pace: a slow one
 * gets larger pieces, and no buffer is kept for it. Deltas are hints: nothing here throws, waits or is recorded.
 */
export class LiveResponse {
  step = 0
  /** Numbers the responses that were begun for the step. */
  try = 0
  /** Whether the response has failed: its deltas are void. */
  isVoid = false
  parts: ShownPart[] = []
  private readonly params: LiveParams
  private size = 0

  constructor(params: LiveParams) {
    this.params = params
  }

  begin(step: number): void {
    this.try = step === this.step ? this.try + 1 : this.params.firstTry
    this.step = step
    this.clear(false)
  }

  fail(): void {
    this.clear(true)
  }

  add(part: ResponsePart): void {
    const call = 'toolCall' in part ? part.toolCall : null
    const text = call ? call.arguments : 'text' in part ? part.text : ''
    this.size += text.length
    if (this.size > MAX_SHOWN) return
    let shown = this.parts.find((each) => each.call?.id === call?.id)
    if (!shown) {
      shown = { call: call && { id: call.id, name: call.name }, text: '', masked: new MaskedStream(this.params.mask) }
      this.parts.push(shown)
    }
    shown.text += shown.masked.push(text)
    this.announce()
  }

  /** @param stored the last step of the journal: deltas of a later one are void */
  close(stored: number): void {
    if (this.step > stored) this.fail()
    const { executionId } = this.params
    if (live.get(executionId) === this) live.delete(executionId)
  }

  private clear(isVoid: boolean): void {
    this.isVoid = isVoid
    this.parts = []
    this.size = 0
    this.announce()
  }

  private announce(): void {
    changes.emit(this.params.executionId)
  }
}

/** What one reader has received of the present response. */
export class DeltaCursor {
  private step = 0
  private try = 0
  /** Characters of each part. */
  private taken: number[] = []

  /**
   * The events that the reader lacks: of each part one delta, with all that has arrived since the last call.
   * @param seen the last step that the reader has
   */
  take(live: Pick<LiveResponse, 'step' | 'try' | 'isVoid' | 'parts'>, seen: number): DeltaEvent[] {
    const events: DeltaEvent[] = []
    const isOther = live.step !== this.step || live.try !== this.try
    if (isOther || live.isVoid) {
      // The deltas of an earlier step are superseded by the step itself.
      const hasVoid = this.taken.length > 0 && this.step > seen && live.step === this.step
      if (hasVoid) events.push({ kind: 'reset', step: this.step, try: this.try })
      this.step = live.step
      this.try = live.try
      this.taken = []
    }
    if (live.isVoid || live.step <= seen) return events
    live.parts.forEach(({ call, text }, index) => {
      const piece = text.slice(this.taken[index] ?? 0)
      if (piece === '') return
      this.taken[index] = text.length
      const at = { kind: 'delta' as const, step: live.step, try: live.try }
      events.push(call ? { ...at, toolCall: { ...call, arguments: piece } } : { ...at, text: piece })
    })
    return events
  }
}
