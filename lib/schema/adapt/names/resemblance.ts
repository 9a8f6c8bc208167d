import { type ParsedName, parseName } from '../../similar-names.ts'
import type { FieldShape, Shape } from '../shape.ts'
import { fieldIndexOf, startOf } from './field-index.ts'
import { findEqualNames, findSameMeaning } from './find-field.ts'
import { isMisspelling } from './misspelling.ts'
import { findPaths, type Paths } from './paths.ts'
import { areSingularAndPlural } from './plural.ts'

/** Similar names differ in length by at most the two letters of a plural or typo. */
const MAX_LENGTH_DIFFERENCE = 2

/** The fields of a shape that a name resembles, in several ways. Most names need only the first. */
export type Resemblance = {
  equal: FieldShape[]
  others: () => {
    words: readonly string[]
    sameMeaning: FieldShape[]
    paths: Paths
    plural: FieldShape[]
    misspelled: FieldShape[]
  }
}

export function findResemblance(shape: Shape, name: string): Resemblance {
  let others: ReturnType<Resemblance['others']> | undefined
  return {
    equal: findEqualNames(shape, name),
    others: () => {
      others ??= findOthers(shape, parseName(name))
      return others
    },
  }
}

const findOthers = (shape: Shape, name: ParsedName) => ({
  words: name.words,
  sameMeaning: findSameMeaning(shape, name),
  paths: findPaths(shape, name),
  plural: findNearby(shape, name, (sent, { normalized }) =>
    areSingularAndPlural(sent.normalized, normalized),
  ),
  misspelled: findNearby(shape, name, isMisspelling),
})

type IsNear = (sent: ParsedName, declared: ParsedName) => boolean

/** The fields whose name is near a given one, of those that have its first letter and about its length. */
function findNearby(shape: Shape, name: ParsedName, isNear: IsNear): FieldShape[] {
  if (name.normalized === '') return []
  const { byStart } = fieldIndexOf(shape)
  const found: FieldShape[] = []
  for (let change = -MAX_LENGTH_DIFFERENCE; change <= MAX_LENGTH_DIFFERENCE; change += 1)
    for (const candidate of byStart.get(startOf(name.normalized, change)) ?? [])
      if (isNear(name, candidate)) found.push(candidate.field)
  return found
}
