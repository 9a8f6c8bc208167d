import type { Json } from '../../../lib/core/json/json.ts'
import type { RecordedRequest } from './recorded-request.ts'
import type { ScriptedUsage } from './usage.ts'

/** `raw` replaces the JSON text of the arguments. */
export type ScriptedCall = { id?: string; name: string } & ({ input: Json } | { raw: string })

/** `urls`: what was found. Anthropic can report an error instead. */
export type ScriptedSearch = { query: string; urls: string[] } | { query: string; error: string }

export type FinishReason = 'stop' | 'tool-calls' | 'length' | 'content-filter'

/** A response of the model. `usage: null` omits the usage where the format allows it. */
export type ScriptedResponse = {
  text?: string
  /** Reasoning text, with a signature or in encrypted form where the format has one. */
  reasoning?: string
  calls?: ScriptedCall[]
  /** Searches of the web that the provider executes before the text; in the formats of Anthropic and OpenAI. */
  searches?: ScriptedSearch[]
  usage?: ScriptedUsage | null
  /** Default: `tool-calls` with calls, else `stop`. */
  finish?: FinishReason
  /** A reason of the provider that has no name in common; only in the formats of Anthropic and Bedrock. */
  stopReason?: string
  /** A refusal: a part of its own in OpenAI's formats, else the text of a response with that stop reason. */
  refusal?: string
  /** Before the response begins. */
  delayMs?: number
  /** The response begins when this has resolved. */
  until?: Promise<unknown>
  /** Before each chunk but the first, or before one: -1 is the last. */
  pause?: { ms: number; chunk?: number }
}

/** A failed response. */
export type Fault = Pick<ScriptedResponse, 'delayMs' | 'until'> &
  (
    | { status: number; headers?: Record<string, string>; message?: string; code?: string; body?: string }
    /** Status 200 with this body. */
    | { garbage: string; contentType?: string }
    /** The connection is closed before the first byte. */
    | { drop: 'before' }
    /**
     * A valid response of which only the first chunks are sent, half of them by default; 2.5 is half of the third. Then
     * the connection is closed, the response ends as if it were complete, or an error follows in the stream.
     */
    | { cut: ScriptedResponse; chunks?: number; by: 'close' | 'end' | { code: string; message?: string } }
  )

export type Reply = ScriptedResponse | Fault
export type Turn = Reply | ((request: RecordedRequest) => Reply)

/** One turn per request, in order; or a function that handles every request, with `index` from 0. */
export type Script = Turn[] | ((request: RecordedRequest, index: number) => Reply)

/** A response with all defaults filled in, as the formats encode it. */
export type CompleteResponse = {
  id: string
  model: string
  text: string
  reasoning: string
  calls: { id: string; name: string; text: string }[]
  searches: ScriptedSearch[]
  usage: ScriptedUsage | null
  finish: FinishReason
  stopReason: string | undefined
  refusal: string
}

export function isFault(reply: Reply): reply is Fault {
  return 'status' in reply || 'garbage' in reply || 'drop' in reply || 'cut' in reply
}

/** `id` is unique on the server; the ids of the calls derive from it. */
export function completeResponse(response: ScriptedResponse, id: string, model: string): CompleteResponse {
  const calls = (response.calls ?? []).map((call, index) => ({
    id: call.id ?? `call_${id}_${index + 1}`,
    name: call.name,
    text: 'raw' in call ? call.raw : JSON.stringify(call.input),
  }))
  return {
    id,
    model,
    text: response.text ?? '',
    reasoning: response.reasoning ?? '',
    refusal: response.refusal ?? '',
    stopReason: response.stopReason,
    calls,
    searches: response.searches ?? [],
    usage: response.usage === undefined ? { inputTokens: 10, outputTokens: 5 } : response.usage,
    finish: response.finish ?? (calls.length > 0 ? 'tool-calls' : 'stop'),
  }
}

/** What a model returns that was offered no tools: the input of its calls, as text. */
export function asText({ calls = [], ...response }: ScriptedResponse): ScriptedResponse {
  const texts = calls.map((call) => ('raw' in call ? call.raw : JSON.stringify(call.input)))
  return { ...response, text: [response.text ?? '', ...texts].join('') }
}
