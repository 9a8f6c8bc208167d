import type { InputAdaptation } from '../../core/execution.ts'
import { isJsonObject, isWithinDepth, type Json, type JsonObject, MAX_JSON_DEPTH } from '../../core/json.ts'
import { toJsonSchema } from '../field-map.ts'
import { below, converted, defaulted, inside, type Place, renamed, TOP, unwrapped } from './adaptation.ts'
import { convertValue, fits } from './convert-value.ts'
import { matchNames } from './match-names.ts'
import { type DefaultedField, readShape, type Shape } from './shape.ts'
import { unwrap } from './unwrap.ts'

export type Adapter = (input: JsonObject) => { input: JsonObject; adaptations: InputAdaptation[] }

type Task = { adaptations: InputAdaptation[]; defaultOf: (field: DefaultedField) => Json | undefined }

/** An input can be adapted in a million places; a list of this many says enough. */
const MAX_ADAPTATIONS = 100

const NONE: ReadonlyMap<string, string> = new Map()

/**
 * Compiles a declared schema (field map or JSON Schema) into what fits an input to it, as far as that is certain: the
 * order of the rules is names (exact, alike, near; see match-names.ts), envelopes (unwrap.ts), types and choices
 * (convert-value.ts), defaults. What does not fit stays as it was sent; nothing is dropped, overwritten or refused.
 *
 * An input that conforms in strict mode comes back as it is, but for the defaults of absent fields, in objects that
 * were sent and in defaults themselves (a default that would contain itself without end is left out). Adapting twice
 * changes nothing more. The list of adaptations ends at 100.
 */
export function compileAdapter(declared: JsonObject): Adapter {
  const { root, shapes } = readShape(toJsonSchema(declared))
  const defaults = settleDefaults(shapes.flatMap((shape) => shape.defaults))
  const defaultOf = (field: DefaultedField) => structuredClone(defaults.get(field))
  return (input) => {
    const adaptations: InputAdaptation[] = []
    return {
      input: root.choices ? input : adaptObject(root, input, TOP, { adaptations, defaultOf }),
      adaptations,
    }
  }
}

/** Each default as the schema wants it, with the defaults inside. */
function settleDefaults(fields: DefaultedField[]): Map<DefaultedField, Json | undefined> {
  const settled = new Map<DefaultedField, Json | undefined>()
  const begun = new Set<DefaultedField>()
  const endless = new Set<DefaultedField>()
  function defaultOf(field: DefaultedField): Json | undefined {
    if (settled.has(field)) return settled.get(field)
    if (begun.has(field)) {
      endless.add(field)
      return undefined
    }
    begun.add(field)
    const value = adaptValue(field.shape, field.value, TOP, { adaptations: [], defaultOf })
    settled.set(field, endless.has(field) ? undefined : value)
    return settled.get(field)
  }
  for (const field of fields) defaultOf(field)
  return settled
}

function adaptValue(shape: Shape, value: Json, place: Place, task: Task): Json {
  if (fits(shape, value)) return shape.choices ? value : adaptParts(shape, value, place, task)
  const result = convertValue(shape, value)
  if (result === undefined || !isWithinDepth(result, MAX_JSON_DEPTH - place.depth)) return value
  note(task, () => converted(place, value, result))
  return adaptParts(shape, result, place, task, Array.isArray(result) && result[0] === value)
}

function adaptParts(shape: Shape, value: Json, place: Place, task: Task, isWrapped = false): Json {
  if (place.depth >= MAX_JSON_DEPTH) return value
  if (Array.isArray(value)) return adaptItems(shape, value, place, task, isWrapped)
  return isJsonObject(value) ? adaptObject(shape, value, place, task) : value
}

function adaptItems(shape: Shape, list: Json[], place: Place, task: Task, isWrapped: boolean): Json[] {
  const adapted = list.map((item, index) => {
    const wanted = shape.firstItems[index] ?? shape.items
    if (!wanted || isSimple(wanted, item)) return item
    return adaptValue(wanted, item, below(place, `${index}`, isWrapped ? undefined : `${index}`), task)
  })
  return adapted.some((item, index) => item !== list[index]) ? adapted : list
}

function adaptObject(shape: Shape, sent: JsonObject, place: Place, task: Task): JsonObject {
  const unknown = Object.keys(sent).filter((name) => !isKnown(shape, name))
  const names = unknown.length > 0 ? matchNames(shape, sent, unknown) : NONE
  const unwrappable = names.size === 0 && unknown.length === 1 ? unwrap(shape, sent) : undefined
  if (unwrappable) {
    const insidePlace = inside(place, unwrappable.names)
    note(task, () => unwrapped(insidePlace))
    return adaptObject(shape, unwrappable.fields, insidePlace, task)
  }
  const fields = Object.entries(sent).map(([sentName, value]): [string, Json] => {
    const name = names.get(sentName) ?? sentName
    if (name !== sentName) note(task, () => renamed(below(place, name, sentName)))
    const wanted = shape.fields.get(name)?.shape ?? (matchesPattern(shape, name) ? undefined : shape.others)
    if (!wanted || isSimple(wanted, value)) return [name, value]
    return [name, adaptValue(wanted, value, below(place, name, sentName), task)]
  })
  const filled = absentDefaults(shape, new Set(fields.map(([name]) => name)), place, task)
  const isSame =
    names.size === 0 && filled.length === 0 && fields.every(([name, value]) => value === sent[name])
  // From entries, `__proto__` is a field like any other.
  return isSame ? sent : Object.fromEntries([...fields, ...filled])
}

function absentDefaults(shape: Shape, present: Set<string>, place: Place, task: Task): [string, Json][] {
  return shape.defaults.flatMap((field): [string, Json][] => {
    if (present.has(field.name)) return []
    const value = task.defaultOf(field)
    if (value === undefined || !isWithinDepth(value, MAX_JSON_DEPTH - place.depth - 1)) return []
    note(task, () => defaulted(below(place, field.name)))
    return [[field.name, value]]
  })
}

const isKnown = (shape: Shape, name: string) => shape.fields.has(name) || matchesPattern(shape, name)

const matchesPattern = ({ patterns }: Shape, name: string) => patterns.some((pattern) => pattern.test(name))

/** Whether a value needs no work, as most do. */
const isSimple = (shape: Shape, value: Json) =>
  (typeof value !== 'object' || value === null) && fits(shape, value)

function note({ adaptations }: Task, adaptation: () => InputAdaptation): void {
  if (adaptations.length < MAX_ADAPTATIONS) adaptations.push(adaptation())
}
