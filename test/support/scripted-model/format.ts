import type { JsonObject } from '../../../lib/core/json.ts'
import type { DecodedRequest } from './recorded-request.ts'
import type { CompleteResponse } from './turn.ts'

// biome-ignore lint/suspicious/noExplicitAny: request bodies of four providers, read only in tests
export type Wire = any

/** A provider's wire format: decodes requests, encodes responses and errors. */
export type Format = {
  /** Matches the request path. A group, if there is one, contains the model. */
  path: RegExp
  decode(body: Wire): DecodedRequest
  encode(response: CompleteResponse): JsonObject
  error(status: number, message: string, code: string): { headers: Record<string, string>; body: JsonObject }
}

/** The named members of `body` that are present. */
export function pick(body: Wire, ...names: string[]): JsonObject {
  return Object.fromEntries(names.flatMap((name) => (body?.[name] === undefined ? [] : [[name, body[name]]])))
}

export const asText = (value: Wire): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? '')

export const parsedOrText = (text: string): Wire => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
