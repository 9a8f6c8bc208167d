import type { InputAdaptation } from '../../core/execution.ts'
import { ExactNumber } from '../../core/json/exact-number.ts'
import { type Json, mapExactNumbers } from '../../core/json/json.ts'
import { jsonTypeOf, toJsonPointer, truncate, withArticle } from '../message-text.ts'

/** A location in an input: its path in the adapted input, and its path in the input that was sent. */
export type Location = {
  path: Path
  sentPath: Path
  depth: number
  parts?: readonly Part[]
  /** Whether the value is an array around a single value, which was sent. */
  isWrapped?: boolean
}

/** A part of a value that was sent under a name of its own: its path in the value, and that name. */
export type Part = { path: string[]; sentName: string }

/** A linked list, because most locations are never reported. */
type Path = { parent: Path; name: string } | undefined

export const ROOT: Location = { path: undefined, sentPath: undefined, depth: 0 }

/** The location of a field or item. Omit `sentName` for the item of an array that was not sent. */
export function childOf(
  { path, sentPath, depth, parts }: Location,
  name: string,
  sentName?: string,
): Location {
  const child = { path: { parent: path, name }, depth: depth + 1 }
  if (!parts)
    return { ...child, sentPath: sentName === undefined ? sentPath : { parent: sentPath, name: sentName } }
  const inside = parts
    .filter((part) => part.path[0] === name)
    .map((part) => ({ ...part, path: part.path.slice(1) }))
  const leaf = inside.find((part) => part.path.length === 0)
  if (leaf) return { ...child, sentPath: { parent: sentPath, name: leaf.sentName } }
  return { ...child, sentPath, parts: inside }
}

/** The location of fields that were sent inside envelopes, or of the item of a list of one. */
export function insideEnvelopes(location: Location, names: readonly string[]): Location {
  const sentPath = names.reduce<Path>((parent, name) => ({ parent, name }), location.sentPath)
  return { ...location, sentPath }
}

export function partOf(location: Location, { path, sentName }: Part): Location {
  const target = path.reduce<Path>((parent, name) => ({ parent, name }), location.path)
  return { path: target, sentPath: { parent: location.sentPath, name: sentName }, depth: location.depth }
}

export function renamed(location: Location): InputAdaptation {
  const { path, from } = pointersOf(location)
  return { path, kind: 'renamed', from, message: `Renamed ${format(from)} to ${format(path)}.` }
}

export function unwrapped(location: Location): InputAdaptation {
  const { path, from } = pointersOf(location)
  return { path, kind: 'unwrapped', from, message: `Moved the fields of ${format(from)} to ${format(path)}.` }
}

export function converted(location: Location, sent: Json | ExactNumber, result: Json): InputAdaptation {
  const path = toPointer(location.path)
  const [from, to] = [jsonTypeOf(sent), jsonTypeOf(result)]
  const change =
    from === to
      ? `Changed the spelling of ${format(path)} to one that the schema allows.`
      : `Converted ${format(path)} from ${withArticle(from)} to ${withArticle(to)}.`
  const isRounded = sent instanceof ExactNumber && to === 'number'
  const message = isRounded ? `Rounded ${format(path)} to the nearest double, ${result}.` : change
  return { path, kind: 'converted', from, message }
}

export function defaulted(location: Location): InputAdaptation {
  const path = toPointer(location.path)
  return { path, kind: 'defaulted', message: `Set ${format(path)} to its default.` }
}

/** The type of a file, which was sent without. */
export function typed(location: Location): InputAdaptation {
  const path = toPointer(location.path)
  return { path, kind: 'defaulted', message: `Set ${format(path)} to the type of the data.` }
}

export function removed(location: Location, sent: Json): InputAdaptation {
  const { path, from } = pointersOf(location)
  const value = sent === null ? 'null' : 'an empty text'
  const message = `Removed ${format(from)}: the schema does not allow ${value}.`
  return { path, kind: 'removed', from, message }
}

const format = (pointer: string) => (pointer === '' ? 'the input' : truncate(pointer, 100))

const pointersOf = ({ path, sentPath }: Location) => ({ path: toPointer(path), from: toPointer(sentPath) })

function toPointer(path: Path): string {
  const names: string[] = []
  for (let part = path; part; part = part.parent) names.push(part.name)
  return toJsonPointer(names.reverse())
}

/** What was changed so far. */
export type Adapted = { adaptations: InputAdaptation[] }

const MAX_ADAPTATIONS = 100

export function record({ adaptations }: Adapted, adaptation: () => InputAdaptation): void {
  if (adaptations.length < MAX_ADAPTATIONS) adaptations.push(adaptation())
}

/** A value that stays as sent, except that its exact numbers become the nearest doubles. */
export function roundNumbers(value: Json, location: Location, context: Adapted): Json {
  return mapExactNumbers(value, (number, path) => {
    const double = number.toDouble()
    const at = path.reduce((parent, name) => childOf(parent, name, name), location)
    record(context, () => converted(at, number, double))
    return double
  })
}
