import { type ParsedName, parseName } from '../../similar-names.ts'
import type { FieldShape, Shape } from '../shape.ts'
import { fieldIndexOf, findEqualNames, findSynonyms, startOf } from './find-field.ts'
import { isMisspelling } from './misspelling.ts'
import { findPaths, type Paths } from './paths.ts'

export type FindFields = (shape: Shape, name: string) => FieldShape[]

/** Enough for the names of one object, of which each is looked up several times. */
const MAX_KNOWN = 1_000

/** What the unknown names of one input resemble: in a list of objects, the same names occur again and again. */
export class NameIndex {
  readonly #known = new Map<Shape, Map<string, Resemblance>>()

  readonly findEqual: FindFields = (shape, name) => this.#find(shape, name).equal
  readonly findSynonyms: FindFields = (shape, name) => this.#find(shape, name).others().synonyms
  readonly findPlural: FindFields = (shape, name) => this.#find(shape, name).others().plural
  readonly findMisspelled: FindFields = (shape, name) => this.#find(shape, name).others().misspelled
  readonly wordsOf = (shape: Shape, name: string) => this.#find(shape, name).others().words
  readonly findPaths = (shape: Shape, name: string): Paths => this.#find(shape, name).others().paths

  #find(shape: Shape, name: string): Resemblance {
    const ofShape = this.#known.get(shape) ?? new Map<string, Resemblance>()
    const known = ofShape.get(name)
    if (known) return known
    const found = findResemblance(shape, name)
    if (ofShape.size >= MAX_KNOWN) ofShape.clear()
    this.#known.set(shape, ofShape.set(name, found))
    return found
  }
}

type Resemblance = ReturnType<typeof findResemblance>

/** The fields of a shape that a name resembles, in several ways. Most names need only the first. */
function findResemblance(shape: Shape, name: string) {
  let others: ReturnType<typeof findOthers> | undefined
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
  synonyms: findSynonyms(shape, name),
  paths: findPaths(shape, name),
  plural: findNearby(shape, name, (sent, { normalized }) =>
    areSingularAndPlural(sent.normalized, normalized),
  ),
  misspelled: findNearby(shape, name, isMisspelling),
})

/** Similar names differ in length by at most the two letters of a plural or typo. */
const MAX_LENGTH_DIFFERENCE = 2

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

/** Whether one of two normalized names is the English plural of the other. */
const areSingularAndPlural = (a: string, b: string): boolean => isPluralOf(a, b) || isPluralOf(b, a)

function isPluralOf(plural: string, singular: string): boolean {
  if (singular.length < 3) return false
  if (/[^aeiou]y$/.test(singular) && plural === `${singular.slice(0, -1)}ies`) return true
  return plural === singular + (/(?:s|x|z|ch|sh|o)$/.test(singular) ? 'es' : 's')
}
