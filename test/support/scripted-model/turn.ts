import type { Json } from '../../../lib/core/json.ts'
import type { RecordedRequest } from './recorded-request.ts'

/** `raw` stands in for the arguments' text: bad JSON. Anthropic and Bedrock, which send objects, send it as a string. */
export type ScriptedCall = { id?: string; name: string } & ({ input: Json } | { raw: string })

export type FinishReason = 'stop' | 'tool-calls' | 'length' | 'content-filter'

/** A response of the model. `usage: null` sends none where the format allows that. */
export type Answer = {
  text?: string
  /** Thinking, with a signature or its encrypted form where the format has one. */
  reasoning?: string
  calls?: ScriptedCall[]
  usage?: { inputTokens: number; outputTokens: number } | null
  /** Default: `tool-calls` with calls, else `stop`. */
  finish?: FinishReason
  delayMs?: number
}

/** What may happen instead. */
export type Fault = { delayMs?: number } & (
  | { status: number; headers?: Record<string, string>; message?: string; code?: string; body?: string }
  /** Status 200 with this body. */
  | { garbage: string; contentType?: string }
  /** The connection is cut before a byte, or in the middle of a good answer. */
  | { drop: 'before' | 'middle' }
)

export type Reply = Answer | Fault
export type Turn = Reply | ((request: RecordedRequest) => Reply)

/** One turn for each request, in order; or a function that answers all of them, `index` counting from 0. */
export type Script = Turn[] | ((request: RecordedRequest, index: number) => Reply)

/** An answer as the formats encode it: everything decided. */
export type CompleteAnswer = {
  id: string
  model: string
  text: string
  reasoning: string
  calls: { id: string; name: string; input: Json; text: string }[]
  usage: { inputTokens: number; outputTokens: number } | null
  finish: FinishReason
}

export function isFault(reply: Reply): reply is Fault {
  return 'status' in reply || 'garbage' in reply || 'drop' in reply
}

/** `id` is unique on the server: the ids of its calls come from it. */
export function completeAnswer(answer: Answer, id: string, model: string): CompleteAnswer {
  const calls = (answer.calls ?? []).map((call, index) => ({
    id: call.id ?? `call_${id}_${index + 1}`,
    name: call.name,
    input: 'raw' in call ? call.raw : call.input,
    text: 'raw' in call ? call.raw : JSON.stringify(call.input),
  }))
  return {
    id,
    model,
    text: answer.text ?? '',
    reasoning: answer.reasoning ?? '',
    calls,
    usage: answer.usage === undefined ? { inputTokens: 10, outputTokens: 5 } : answer.usage,
    finish: answer.finish ?? (calls.length > 0 ? 'tool-calls' : 'stop'),
  }
}
