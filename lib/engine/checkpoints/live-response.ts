import { EventEmitter } from 'node:events'
import type { Execution } from '../../core/execution.ts'
import type { ResponsePart } from '../../core/model.ts'
import type { DeltaEvent, ResponseSoFar, StepStore } from '../../core/step.ts'
import { MaskedStream, type SecretMask } from '../../tools/secret-mask.ts'
import type { Journal } from './journal.ts'

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

/** Tells the readers in this process that a worker in another one has kept more of the response. */
export const emitLiveChanged = (executionId: string): boolean => changes.emit(executionId)

export function openLiveResponse(params: LiveParams): LiveResponse {
  const opened = new LiveResponse(params)
  live.set(params.execution.id, opened)
  return opened
}

type LiveParams = {
  execution: Pick<Execution, 'id' | 'attempts'>
  mask: SecretMask
  /** Knows until when readers in other processes follow the run. */
  journal: Pick<Journal, 'watchedUntil'>
  steps: Pick<StepStore, 'keepResponse'>
}

/** Between two writes for readers in other processes. */
const KEEP_INTERVAL_MS = 1_000

/** How long the last one is kept: as long as a stream. */
const KEPT_MS = 900_000

/** Responses that one worker begins for a step: more would take longer than the time for its retries. */
const MAX_TRIES = 1_000

/** Higher for each later worker of the run. */
const firstTryOf = ({ attempts }: Pick<Execution, 'attempts'>) => (attempts - 1) * MAX_TRIES + 1

/** The attempt at the execution that began the response. */
const attemptOfTry = (number: number) => Math.ceil(number / MAX_TRIES)

type ShownPart = { call: { id: string; name: string } | null; text: string; masked: MaskedStream }

/**
 * The response that a model is writing for a run, so far. Readers take what they lack at their own pace: a slow one
 * gets larger pieces, and no buffer is kept for it. Deltas are hints: nothing here throws, waits or is recorded.
 */
export class LiveResponse implements ResponseSoFar {
  step = 0
  /** Numbers the responses that were begun for the step. */
  try = 0
  /** Whether the response has failed: its deltas are void. */
  isVoid = false
  parts: ShownPart[] = []
  private readonly params: LiveParams
  private size = 0
  private isClosed = false
  private keptAt = Number.NEGATIVE_INFINITY
  /** The timer of the next write; also set while the last one is under way. */
  private keeping: NodeJS.Timeout | undefined
  private hasChanged = false

  constructor(params: LiveParams) {
    this.params = params
  }

  begin(step: number): void {
    this.try = step === this.step ? this.try + 1 : firstTryOf(this.params.execution)
    this.step = step
    this.clear(false)
  }

  fail(): void {
    this.clear(true)
  }

  add(part: ResponsePart): void {
    if (this.isClosed) return
    const call = 'toolCall' in part ? part.toolCall : null
    const text = call ? call.arguments : 'text' in part ? part.text : ''
    this.size += text.length
    if (this.size > MAX_SHOWN) return
    let shown = this.parts.find((each) => each.call?.id === call?.id)
    if (!shown) {
      shown = {
        call: call && { id: call.id, name: call.name },
        text: '',
        masked: new MaskedStream(this.params.mask),
      }
      this.parts.push(shown)
    }
    shown.text += shown.masked.push(text)
    this.announce()
  }

  /** Keeps what nobody watched when it arrived. The model may add nothing for long. */
  catchUp(): void {
    if (this.hasChanged) this.announce()
  }

  /** @param stored the last step of the journal: deltas of a later one are void */
  close(stored: number): void {
    this.isClosed = true
    const { id } = this.params.execution
    if (live.get(id) === this) live.delete(id)
    if (this.step > stored) this.fail()
    else clearTimeout(this.keeping)
  }

  private clear(isVoid: boolean): void {
    this.isVoid = isVoid
    this.parts = []
    this.size = 0
    this.announce()
  }

  private announce(): void {
    const { execution, journal } = this.params
    changes.emit(execution.id)
    this.hasChanged = true
    if (this.keeping || journal.watchedUntil <= Date.now()) return
    const delayMs = Math.max(this.keptAt + KEEP_INTERVAL_MS - performance.now(), 0)
    this.keeping = setTimeout(() => this.keep(), delayMs)
  }

  private async keep(): Promise<void> {
    const { execution, steps } = this.params
    const { step, try: number, isVoid, parts } = this
    const response = { step, try: number, isVoid, parts: parts.map(({ call, text }) => ({ call, text })) }
    this.keptAt = performance.now()
    this.hasChanged = false
    await steps.keepResponse({ executionId: execution.id, response, keptMs: KEPT_MS }).catch(() => undefined)
    this.keeping = undefined
    if (this.hasChanged && !(this.isClosed && !this.isVoid)) this.announce()
  }
}

/** What one reader has received of the present response. */
export class DeltaCursor {
  private step = 0
  private try = 0
  private isVoid = false
  /** Characters of each part. */
  private taken: number[] = []

  /**
   * The events that the reader lacks: of each part one delta, with all that has arrived since the last call.
   * @param seen the last step that the reader has
   */
  take(live: ResponseSoFar, seen: number): DeltaEvent[] {
    const order = live.step - this.step || live.try - this.try
    // What was kept for other processes can be older than what the reader has.
    if (order < 0 || (order === 0 && this.isVoid)) return []
    const voided = order > 0 || live.isVoid ? this.reset() : []
    // Deltas of an earlier step are superseded by the step itself.
    const events = live.step > this.step || live.step <= seen ? [] : voided
    this.step = live.step
    this.try = live.try
    this.isVoid = live.isVoid
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

  /** Before a step that another attempt has made than the one whose deltas the reader has. */
  supersede({ number, attempt }: { number: number; attempt: number }): DeltaEvent[] {
    return number === this.step && attempt !== attemptOfTry(this.try) ? this.reset() : []
  }

  private reset(): DeltaEvent[] {
    const hasDeltas = this.taken.length > 0
    this.taken = []
    return hasDeltas ? [{ kind: 'reset', step: this.step, try: this.try }] : []
  }
}
