import type { InputAdaptation } from '../../core/execution.ts'
import type { Json, JsonObject } from '../../core/json/json.ts'
import { toJsonSchema } from '../field-map.ts'
import { toJsonPointer } from '../message-text.ts'
import { adaptObject, adaptValue, type Context } from './adapt-value.ts'
import { childOf, ROOT, roundNumbers } from './adaptation.ts'
import { NameIndex } from './names/name-index.ts'
import { openValue } from './nested-input.ts'
import { type DefaultedField, readShape } from './shape.ts'
import { hasDeclaredField, unwrapEnvelope } from './unwrap-envelope.ts'

export type Adapter = (input: JsonObject) => { input: JsonObject; adaptations: InputAdaptation[] }

/**
 * Compiles a declared schema (field map or JSON Schema) into a function that adapts an input to it. It changes only
 * what is unambiguous (docs/adaptation.md): envelopes, names, values, empty values, defaults. It leaves ambiguous input
 * unchanged, also an input of which the result would be adapted again. The time is linear in the size of the input.
 *
 * A number that a double cannot hold becomes text in a string field, and otherwise the nearest double; the result never
 * contains an `ExactNumber`.
 *
 * In an input that is valid in strict mode, only defaults of missing fields are added, to objects that were sent and
 * inside the defaults themselves (a default that would contain itself is omitted), and numbers in fields of any type
 * are rounded. Adaptation is idempotent. At most 100 adaptations are listed.
 */
export function compileAdapter(declared: JsonObject): Adapter {
  const { root, shapes } = readShape(toJsonSchema(declared))
  const defaults = adaptDefaults(shapes.flatMap((shape) => shape.defaults))
  const defaultOf = (field: DefaultedField) => copyOf(defaults.get(field))
  return (sent) => {
    const round = (input: Json, context: Context) => roundNumbers(input, ROOT, context)
    const adapt = (input: Json, context: Context) => adaptObject(root, input as JsonObject, ROOT, context)
    const { value, adaptations } = adaptOnce(sent, { adapt: root.choices ? round : adapt, round, defaultOf })
    return { input: value as JsonObject, adaptations }
  }
}

type Change = (value: Json, context: Context) => Json

/** Adapts a value unless the result would be adapted again. Otherwise only its numbers are rounded. */
function adaptOnce(
  sent: Json,
  { adapt, round, defaultOf }: { adapt: Change; round: Change } & Pick<Context, 'defaultOf'>,
) {
  const names = new NameIndex()
  const run = (value: Json, change: Change) => {
    const context: Context = { adaptations: [], names, mayChangeAgain: false, defaultOf }
    return { value: change(value, context), ...context }
  }
  const first = run(sent, adapt)
  const isStable = !first.mayChangeAgain || run(first.value, adapt).value === first.value
  return isStable ? first : run(sent, round)
}

/** Adapts each default to its schema, which also adds the defaults inside. */
function adaptDefaults(fields: DefaultedField[]): Map<DefaultedField, Json | undefined> {
  const adapted = new Map<DefaultedField, Json | undefined>()
  const started = new Set<DefaultedField>()
  const recursive = new Set<DefaultedField>()
  function defaultOf(field: DefaultedField): Json | undefined {
    if (started.has(field)) {
      if (!adapted.has(field)) recursive.add(field)
      return adapted.get(field)
    }
    started.add(field)
    const location = childOf(ROOT, field.name)
    const { value } = adaptOnce(field.defaultValue, {
      adapt: (value, context) => adaptValue(field.shape, value, location, context),
      round: (value, context) => roundNumbers(value, location, context),
      defaultOf,
    })
    adapted.set(field, recursive.has(field) ? undefined : value)
    return adapted.get(field)
  }
  for (const field of fields) defaultOf(field)
  return adapted
}

const copyOf = (value: Json | undefined) => (typeof value === 'object' ? structuredClone(value) : value)

/**
 * The input in a request body that is not an object: the item of a list of one, or JSON in a text. Undefined unless the
 * schema declares one of its fields, or of those inside an envelope.
 */
export function openBody(
  declared: JsonObject,
  body: Json,
): { input: JsonObject; adaptation: InputAdaptation } | undefined {
  const opened = openValue(body)
  if (!opened || Object.keys(opened.fields).length === 0) return undefined
  const { root } = readShape(toJsonSchema(declared))
  const isInput =
    hasDeclaredField(root, opened.fields) || unwrapEnvelope(root, opened.fields, true, new NameIndex())
  if (!isInput) return undefined
  const container = Array.isArray(body) ? 'the only item of the list' : 'the JSON in the text'
  const message = `Took the input from ${container} that was sent.`
  const from = toJsonPointer(opened.path)
  return { input: opened.fields, adaptation: { path: '', kind: 'unwrapped', from, message } }
}
