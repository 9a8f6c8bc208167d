import { isJsonObject, type Json, type JsonObject } from '../../../core/json/json.ts'
import { KEPT_RESULTS } from '../../../core/limits.ts'
import type { Model, ToolCall, ToolResult } from '../../../core/model.ts'
import { estimateMessage } from '../../../models/estimate-tokens.ts'
import { textOf } from './delimit-result.ts'

/** A result as the model sees it, and its bytes as the tool returned it. */
type Answered = { call: ToolCall; result: ToolResult; bytes: number }
/** A message with tool results: which one, and its results among all. */
type Reply = { position: number; from: number; to: number }

/** Shares of the context window: where clearing begins, and what it leaves for the next steps to fill. */
const CLEAR_ABOVE = 0.7
const CLEAR_TO = 0.35

/**
 * The messages of a run. When they fill the context window, the oldest tool results and arguments of calls are
 * cleared, many at a time: what precedes them stays as it was sent, and the next steps only append to it, so that a
 * provider's cache applies.
 */
export class Context {
  readonly messages: Json[] = []
  /** How many of the oldest results are cleared. */
  cleared = 0
  private readonly results: Answered[] = []
  private readonly replies: Reply[] = []
  /** An estimate of the messages. */
  private tokens = 0
  /** What the next request has at least, derived from what the provider counted for the last one. */
  private counted = 0
  private readonly model: Pick<Model, 'toolMessage'>
  private readonly kept: number

  /** @param kept how many of the latest results are never cleared */
  constructor(model: Pick<Model, 'toolMessage'>, kept: number = KEPT_RESULTS.default) {
    this.model = model
    this.kept = kept
  }

  push(...messages: Json[]): void {
    for (const message of messages) {
      this.messages.push(message)
      this.resize(estimateMessage(message))
    }
  }

  /** Appends the message with the results of a response. */
  pushResults(answered: Answered[]): void {
    const from = this.results.length
    this.results.push(...answered)
    this.replies.push({ position: this.messages.length, from, to: this.results.length })
    this.push(this.model.toolMessage(answered))
  }

  /** Tells how many tokens the provider has counted in the last request, before its response is appended. */
  count(inputTokens: number): void {
    this.counted = inputTokens
  }

  /**
   * Clears results if a request with the messages fills the window. Those of the last response, which the model has not
   * seen, are cleared only if the request would not fit otherwise.
   * @param others tokens of the request besides its messages
   */
  fit(window: number, others: number): void {
    const size = () => Math.max(this.tokens + others, this.counted)
    if (size() <= CLEAR_ABOVE * window) return
    const last = this.replies.at(-1)
    const isLast = last?.position === this.messages.length - 1
    this.clearBy(size() - CLEAR_TO * window, isLast ? last.from : this.results.length)
    if (size() > window) this.clearBy(size() - CLEAR_ABOVE * window, this.results.length)
  }

  /** Clears all results that may be cleared. False if that changes nothing. */
  clearAll(): boolean {
    const before = this.tokens
    this.clearTo(this.results.length - this.kept)
    return this.tokens < before
  }

  /** Clears the oldest results up to a number of them, as an earlier worker has done. */
  clearTo(end: number): void {
    const begin = this.cleared
    if (end <= begin) return
    this.cleared = end
    for (const { position, from, to } of this.replies) {
      if (to <= begin || from >= end) continue
      const answered = this.results
        .slice(from, to)
        .map((each, index) => (from + index < end ? clear(each) : each))
      this.replace(position, this.model.toolMessage(answered))
      const ids = new Set(answered.slice(0, Math.min(end, to) - from).map(({ call }) => call.id))
      for (let at = position - 1; roleOf(this.messages[at]) === 'assistant'; at--)
        this.replace(at, clearArguments(this.messages[at] ?? null, ids))
    }
  }

  private replace(position: number, message: Json): void {
    this.resize(estimateMessage(message) - estimateMessage(this.messages[position] ?? null))
    this.messages[position] = message
  }

  /** Clears the oldest results until they have a number of tokens together. */
  private clearBy(tokens: number, end: number): void {
    const last = Math.min(end, this.results.length - this.kept)
    let next = this.cleared
    for (let saved = 0; next < last && saved < tokens; next++) saved += this.savingOf(this.results[next])
    this.clearTo(next)
  }

  private savingOf(answered: Answered | undefined): number {
    if (!answered) return 0
    const { input } = answered.call
    const sizeOf = (result: Answered, sent: Json) =>
      estimateMessage(this.model.toolMessage([result])) + estimateMessage(toCall(sent))
    return sizeOf(answered, input) - sizeOf(clear(answered), clearInput(input))
  }

  private resize(tokens: number): void {
    this.tokens += tokens
    this.counted += tokens
  }
}

const roleOf = (message: Json | undefined) => isJsonObject(message) && message.role

const toCall = (input: Json) => ({ role: 'assistant', content: [{ type: 'tool-call', input }] })

/** A response without the arguments of these calls. */
function clearArguments(message: Json, ids: Set<string>): Json {
  if (!isJsonObject(message) || !Array.isArray(message.content)) return message
  const content = message.content.map((part) =>
    isJsonObject(part) && part.type === 'tool-call' && ids.has(String(part.toolCallId))
      ? { ...part, input: clearInput(part.input ?? null) }
      : part,
  )
  return { ...message, content }
}

/** Unless they are as short as the note in their place. An object, as providers require. */
function clearInput(input: Json): Json {
  const text = JSON.stringify(input)
  const note: JsonObject = { cleared: `${Buffer.byteLength(text)} bytes of arguments` }
  return !isJsonObject(input) || text.length <= JSON.stringify(note).length ? input : note
}

/** Bytes of a result with its images. */
export function sizeOf(result: ToolResult): number {
  const images = result.ok ? (result.images ?? []) : []
  const base64 = images.reduce((sum, { data }) => sum + data.length, 0)
  return Buffer.byteLength(textOf(result)) + Math.floor(base64 * 0.75)
}

/** A result without its content, unless that is as short as the note in its place. */
function clear(answered: Answered): Answered {
  const { call, result, bytes } = answered
  const note = `[cleared, ${bytes} bytes; call again if needed]`
  const hasImages = result.ok && result.images !== undefined
  if (!hasImages && textOf(result).length <= note.length) return answered
  return { call, bytes, result: result.ok ? { ok: true, value: note } : { ok: false, error: note } }
}
