import type { JsonObject } from '../../../lib/core/json/json.ts'
import type { DecodedRequest } from './recorded-request.ts'
import type { CompleteResponse } from './turn.ts'

// biome-ignore lint/suspicious/noExplicitAny: request bodies of four providers, read only in tests
export type Wire = any

/** One event of a streamed response, in its final encoding. */
export type Chunk = string | Uint8Array

/** A provider's wire format: decodes requests, encodes streamed responses and errors. */
export type Format = {
  /** Matches the request path. A group, if there is one, contains the model. */
  path: RegExp
  contentType: string
  decode(body: Wire): DecodedRequest
  encode(response: CompleteResponse, request: Wire): Chunk[]
  /** An error response, before the stream has begun. */
  error(status: number, message: string, code: string): { headers: Record<string, string>; body: JsonObject }
  /** An error that is reported in the stream. */
  streamError(message: string, code: string): Chunk
}

export const EVENT_STREAM = 'text/event-stream'

/** A server-sent event. */
export const toEvent = (data: JsonObject, event?: string): string =>
  `${event ? `event: ${event}\n` : ''}data: ${JSON.stringify(data)}\n\n`

/** Splits a text into the parts of two deltas, not within a character. */
export function toDeltas(text: string): string[] {
  const characters = [...text]
  const middle = Math.ceil(characters.length / 2)
  return [characters.slice(0, middle), characters.slice(middle)].map((part) => part.join('')).filter(Boolean)
}

/** The named members of `body` that are present. */
export function pick(body: Wire, ...names: string[]): JsonObject {
  return Object.fromEntries(names.flatMap((name) => (body?.[name] === undefined ? [] : [[name, body[name]]])))
}

/** The tools of a request, which name the schema of their input so. */
export const toTools = (tools: Wire[] | undefined, schema: string) =>
  (tools ?? []).map(({ name, description, [schema]: inputSchema }) => ({ name, description, inputSchema }))

export const openaiError: Format['error'] = (_status, message, code) => ({
  headers: {},
  body: { error: { message, type: code, param: null, code } },
})

export const asText = (value: Wire): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? '')

export const parsedOrText = (text: string): Wire => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
