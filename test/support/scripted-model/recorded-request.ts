import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Json, JsonObject } from '../../../lib/core/json/json.ts'
import type { ToolDeclaration } from '../../../lib/core/model.ts'

/** The providers whose own formats the scripted server has. */
export type ScriptedProvider = 'openai' | 'openai-compatible' | 'anthropic' | 'bedrock'

/** An item of the conversation, in any format. `isError` is null where the format has no such flag. */
export type HistoryItem =
  | { type: 'text'; role: 'user' | 'assistant'; text: string }
  /** As sent. */
  | { type: 'file'; role: 'user'; part: JsonObject }
  | { type: 'reasoning'; text: string; signature: string | null }
  | { type: 'call'; id: string; name: string; input: Json }
  | { type: 'result'; id: string; output: string; isError: boolean | null }
  /** A part of a search of the web, as the provider sent it. */
  | { type: 'search'; value: Json }

/** A result of a tool without the delimiters that mark it as data. */
export const dataOf = (output: string): string =>
  /<tool_result>\n([\s\S]*)\n<\/tool_result>/.exec(output)?.[1] ?? output

/** The results of tools that a request has, as sent. */
export const resultsOf = (request: DecodedRequest | undefined): string[] =>
  request?.history.flatMap((item) => (item.type === 'result' ? [item.output] : [])) ?? []

/** A request in a form common to all formats. */
export type DecodedRequest = {
  instructions: string
  history: HistoryItem[]
  tools: ToolDeclaration[]
  /** The members that control reasoning, as sent. */
  reasoning: JsonObject
  maxOutputTokens: number | null
  temperature: number | null
  /** The tool that the response must call. */
  forcedTool: string | null
  /** The schema of the text of the response. */
  responseSchema: JsonObject | null
}

export type RecordedRequest = DecodedRequest & {
  format: ScriptedProvider
  model: string
  headers: Record<string, string>
  body: JsonObject
}

/** The error for which a real provider rejects a request: a tool call is not followed by exactly one result. */
export function problemOf({ history }: DecodedRequest): string | null {
  const open = new Set<string>()
  for (const item of history) {
    if (item.type === 'call') {
      if (open.has(item.id)) return `the call ${item.id} occurs twice`
      open.add(item.id)
    } else if (item.type === 'result') {
      if (!open.delete(item.id)) return `the result of ${item.id} has no open call`
    } else if (open.size > 0 && !(item.type === 'text' && item.role === 'assistant')) {
      return `the calls ${[...open].join(', ')} have no result before the next message`
    }
  }
  return open.size > 0 ? `the calls ${[...open].join(', ')} have no result` : null
}

/** The environment variable with the folder in which `npm run test:models` collects requests. */
export const MODEL_REQUESTS = 'MODEL_REQUESTS'

/** Appends a request to a file of this process, one JSON document per line, if `MODEL_REQUESTS` names a folder. */
export function keepRequest({ format, model, body }: RecordedRequest): void {
  const folder = process.env[MODEL_REQUESTS]
  if (!folder) return
  appendFileSync(join(folder, `${process.pid}.jsonl`), `${JSON.stringify({ format, model, body })}\n`)
}
