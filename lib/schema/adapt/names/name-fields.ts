import type { JsonObject } from '../../../core/json.ts'
import type { Shape } from '../shape.ts'
import { matchNames, matchSimilarNames, type NameIndex, type Renames } from './match-names.ts'
import { assemblePaths, type NamedField } from './paths.ts'
import { matchWithoutAffix } from './shared-affix.ts'

type Names = { renames: Renames; assembled: NamedField[] }

const SAME_NAMES: Names = { renames: new Map(), assembled: [] }

/** Gives the fields of an input their declared names, where each unknown name is unambiguous. */
export function nameFields(
  shape: Shape,
  sent: JsonObject,
  sentNames: readonly string[],
  unknown: readonly string[],
  index: NameIndex,
): NamedField[] {
  const { renames, assembled } = unknown.length > 0 ? findNames(shape, sent, unknown, index) : SAME_NAMES
  const byPart = new Map(assembled.flatMap((field) => partNames(field).map((name) => [name, field])))
  const fields: NamedField[] = []
  for (const sentName of sentNames) {
    const field = byPart.get(sentName)
    if (!field)
      fields.push({ name: renames.get(sentName) ?? sentName, value: sent[sentName] ?? null, sentName })
    else if (field.sentName === sentName) fields.push(field)
  }
  return fields
}

const partNames = ({ parts = [] }: NamedField) => parts.map(({ sentName }) => sentName)

/** Tries the most certain readings first: each one leaves fewer names and fields to the next. */
function findNames(shape: Shape, sent: JsonObject, unknown: readonly string[], index: NameIndex): Names {
  const renames = matchNames({ shape, sent, unknown, index })
  const isTaken = (field: string) => Object.hasOwn(sent, field) || [...renames.values()].includes(field)
  const rest = renames.size === 0 ? unknown : unknown.filter((name) => !renames.has(name))
  const assembled = assemblePaths(shape, sent, rest, index.findPaths).filter(({ name }) => !isTaken(name))
  const hasNoneYet =
    renames.size === 0 && assembled.length === 0 && unknown.length === Object.keys(sent).length
  const withoutAffix = hasNoneYet ? matchWithoutAffix(shape, sent, index) : undefined
  if (withoutAffix) return { renames: withoutAffix, assembled }
  const parts = new Set(assembled.flatMap(partNames))
  const taken = new Set(assembled.map(({ name }) => name))
  const others = parts.size === 0 ? unknown : unknown.filter((name) => !parts.has(name))
  matchSimilarNames({ shape, sent, unknown: others, index, taken }, renames)
  return { renames, assembled }
}
