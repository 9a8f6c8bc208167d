import type { InputAdaptation } from '../../core/execution.ts'
import type { Json } from '../../core/json.ts'
import { pointerOf, shortened } from '../json-pointer.ts'
import { typeName, typeOf } from '../type-names.ts'

/** A place in an input, by the names on the way there and by those that were sent. */
export type Place = { names: Path; sentNames: Path; depth: number }

type Path = { above: Path; name: string } | undefined

export const TOP: Place = { names: undefined, sentNames: undefined, depth: 0 }

/** Without `sentName` the place is one that was not sent: the list around a single value. */
export function below({ names, sentNames, depth }: Place, name: string, sentName?: string): Place {
  return {
    names: { above: names, name },
    sentNames: sentName === undefined ? sentNames : { above: sentNames, name: sentName },
    depth: depth + 1,
  }
}

/** The place of what was sent inside envelopes. */
export function inside(place: Place, envelopes: readonly string[]): Place {
  return { ...place, sentNames: envelopes.reduce<Path>((above, name) => ({ above, name }), place.sentNames) }
}

export function renamed(place: Place): InputAdaptation {
  const path = pathOf(place)
  const from = pointerOf(listed(place.sentNames))
  return { path, kind: 'renamed', from, message: `${shown(from)} is taken for the field ${shown(path)}.` }
}

export function unwrapped(place: Place): InputAdaptation {
  const from = pointerOf(listed(place.sentNames))
  const message = `The fields inside ${shown(from)} are taken for those of ${shown(pathOf(place))}.`
  return { path: pathOf(place), kind: 'unwrapped', from, message }
}

export function converted(place: Place, sent: Json, result: Json): InputAdaptation {
  const path = pathOf(place)
  const from = typeName(typeOf(sent))
  const to = typeName(typeOf(result))
  const change = from === to ? 'is one of the allowed values, spelled differently' : `was ${from}, now ${to}`
  return { path, kind: 'converted', from, message: `${shown(path)} ${change}.` }
}

export function defaulted(place: Place): InputAdaptation {
  const path = pathOf(place)
  return { path, kind: 'defaulted', message: `${shown(path)} was not sent and has its default.` }
}

const pathOf = ({ names }: Place) => pointerOf(listed(names))

const shown = (pointer: string) => (pointer === '' ? 'the input' : shortened(pointer, 100))

function listed(path: Path): string[] {
  const names: string[] = []
  for (let part = path; part; part = part.above) names.push(part.name)
  return names.reverse()
}
