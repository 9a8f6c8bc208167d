import type { JsonObject } from '../../../lib/core/json.ts'
import type { DecodedRequest } from './recorded-request.ts'
import type { CompleteAnswer } from './turn.ts'

// biome-ignore lint/suspicious/noExplicitAny: bodies of four vendors, read by tests only
export type Wire = any

/** One wire format: how a request is read, and how an answer or an error is written. */
export type Format = {
  /** Matched against the path; a group, where there is one, holds the model. */
  path: RegExp
  decode(body: Wire): DecodedRequest
  encode(answer: CompleteAnswer): JsonObject
  error(status: number, message: string, code: string): { headers: Record<string, string>; body: JsonObject }
}

/** The members of `body` named, without those that are absent. */
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
