import { ExactNumber } from '../../core/exact-number.ts'
import type { InputAdaptation } from '../../core/execution.ts'
import type { Json } from '../../core/json.ts'
import { toJsonPointer } from '../json-pointer.ts'
import { jsonTypeOf, truncate, withArticle } from '../message-text.ts'

/** A location in an input: its path in the adapted input, and its path in the input that was sent. */
export type Location = { path: Path; sentPath: Path; depth: number }

/** A linked list, because most locations are never reported. */
type Path = { parent: Path; name: string } | undefined

export const ROOT: Location = { path: undefined, sentPath: undefined, depth: 0 }

/** The location of a field or item. Omit `sentName` for the array around a single value, which was not sent. */
export function childOf({ path, sentPath, depth }: Location, name: string, sentName?: string): Location {
  return {
    path: { parent: path, name },
    sentPath: sentName === undefined ? sentPath : { parent: sentPath, name: sentName },
    depth: depth + 1,
  }
}

/** The location of fields that were sent inside envelopes. */
export function insideEnvelopes(location: Location, names: readonly string[]): Location {
  const sentPath = names.reduce<Path>((parent, name) => ({ parent, name }), location.sentPath)
  return { ...location, sentPath }
}

export function renamed(location: Location): InputAdaptation {
  const path = toPointer(location.path)
  const from = toPointer(location.sentPath)
  return { path, kind: 'renamed', from, message: `Renamed ${format(from)} to ${format(path)}.` }
}

export function unwrapped(location: Location): InputAdaptation {
  const path = toPointer(location.path)
  const from = toPointer(location.sentPath)
  return {
    path,
    kind: 'unwrapped',
    from,
    message: `Moved the fields of ${format(from)} to ${format(path)}.`,
  }
}

export function converted(location: Location, sent: Json | ExactNumber, result: Json): InputAdaptation {
  const path = toPointer(location.path)
  const [from, to] = [jsonTypeOf(sent), jsonTypeOf(result)]
  if (sent instanceof ExactNumber && typeof result === 'number')
    return {
      path,
      kind: 'converted',
      from,
      message: `Rounded ${format(path)} to the nearest double, ${result}.`,
    }
  const message =
    from === to
      ? `Changed the spelling of ${format(path)} to match an allowed value.`
      : `Converted ${format(path)} from ${withArticle(from)} to ${withArticle(to)}.`
  return { path, kind: 'converted', from, message }
}

export function defaulted(location: Location): InputAdaptation {
  const path = toPointer(location.path)
  return { path, kind: 'defaulted', message: `Set ${format(path)} to its default.` }
}

const format = (pointer: string) => (pointer === '' ? 'the input' : truncate(pointer, 100))

function toPointer(path: Path): string {
  const names: string[] = []
  for (let part = path; part; part = part.parent) names.push(part.name)
  return toJsonPointer(names.reverse())
}
