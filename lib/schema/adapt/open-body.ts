import type { InputAdaptation } from '../../core/execution.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { toJsonSchema } from '../field-map.ts'
import { toJsonPointer } from '../message-text.ts'
import { openValue } from './envelopes/open-value.ts'
import { hasDeclaredField, unwrapEnvelope } from './envelopes/unwrap-envelope.ts'
import { NameIndex } from './names/match-names.ts'
import { readShape } from './shape.ts'

type OpenedBody = { input: JsonObject; adaptation: InputAdaptation }

/**
 * The input in a request body that is not an object: the item of a list of one, or JSON in a text. Undefined unless the
 * schema declares one of its fields, or of those inside an envelope.
 */
export function openBody(declared: JsonObject, body: Json): OpenedBody | undefined {
  const opened = openValue(body)
  if (!opened || Object.keys(opened.fields).length === 0) return undefined
  const { root } = readShape(toJsonSchema(declared))
  const isInput =
    hasDeclaredField(root, opened.fields) || unwrapEnvelope(root, opened.fields, true, new NameIndex())
  return isInput ? { input: opened.fields, adaptation: takenFrom(body, opened.path) } : undefined
}

function takenFrom(body: Json, path: readonly string[]): InputAdaptation {
  const container = Array.isArray(body) ? 'the only item of the list' : 'the JSON in the text'
  const message = `Took the input from ${container} that was sent.`
  return { path: '', kind: 'unwrapped', from: toJsonPointer(path), message }
}
