import { normalizeName, type ParsedName, parseName } from '../../similar-names.ts'
import { type FieldShape, hasOnlyType, type Shape } from '../shape.ts'

/** Synonyms in names: abbreviations, and British spellings. */
const SYNONYMS = new Map(
  [
    'addr=address amt=amount cust=customer desc=description lang=language msg=message num=number qty=quantity',
    'repo=repository authorisation=authorization behaviour=behavior cancelled=canceled catalogue=catalog',
    'centre=center colour=color customisation=customization favourite=favorite fulfilment=fulfillment',
    'grey=gray licence=license localisation=localization neighbour=neighbor organisation=organization',
    'organisations=organizations',
  ].flatMap((line) => line.split(' ').map((pair) => pair.split('=') as [word: string, same: string])),
)

/** Phrases that are one word, or whose second word adds nothing. */
const PHRASES: [RegExp, string][] = [
  [/\be mail\b/g, 'email'],
  [/\bemail ?address\b/g, 'email'],
  [/\bphone ?number\b/g, 'phone'],
]

/** The words of a name with synonyms replaced: `custEmailAddress` is `customer email`. */
export function toCanonicalName(words: readonly string[]): string {
  const phrase = words.map((word) => SYNONYMS.get(word) ?? word).join(' ')
  return PHRASES.reduce((name, [pattern, replacement]) => name.replace(pattern, replacement), phrase)
}

/** Built lazily: only inputs with unknown names need them. */
const indexes = new WeakMap<Shape, ReturnType<typeof indexFields>>()

export function fieldIndexOf(shape: Shape) {
  const known = indexes.get(shape)
  if (known) return known
  const index = indexFields([...shape.fields.values()])
  indexes.set(shape, index)
  return index
}

/** The fields of a shape by their normalized name, by their canonical name, and by what similar names share. */
function indexFields(fields: FieldShape[]) {
  const names = fields
    .map((field) => ({ ...parseName(field.name), field }))
    .filter(({ normalized }) => normalized !== '')
  const keys = names.flatMap(({ words, field }) =>
    canonicalKeys(words, hasOnlyType(field.shape, 'boolean')).map((key) => ({ key, field })),
  )
  return {
    byName: Map.groupBy(names, ({ normalized }) => normalized),
    byCanonical: Map.groupBy(keys, ({ key }) => key),
    byStart: Map.groupBy(names, ({ normalized }) => startOf(normalized)),
    /** Whether a field is an object or a list, of which parts can be sent. */
    hasParts: fields.some(({ shape }) => shape.fields.size > 0 || shape.types?.has('array')),
  }
}

/**
 * The keys under which a name is found. Names that differ only in `is` share the key `? paid`, which only booleans
 * have.
 */
function canonicalKeys(words: readonly string[], mayBeBoolean: boolean): string[] {
  const canonical = toCanonicalName(words)
  return mayBeBoolean ? [canonical, `? ${canonical.replace(/^is /, '')}`] : [canonical]
}

/** The first letter and the length of a normalized name: similar names share the letter. */
export const startOf = (normalized: string, change = 0) => `${normalized[0]}${normalized.length + change}`

/** The fields whose name equals a given one except for case and separators. */
export function findEqualNames(shape: Shape, name: string): FieldShape[] {
  const normalized = normalizeName(name)
  if (normalized === '') return []
  return (fieldIndexOf(shape).byName.get(normalized) ?? []).map(({ field }) => field)
}

/** The fields whose name consists of the same words as a given one, or of synonyms. */
export function findSynonyms(shape: Shape, { normalized, words }: ParsedName): FieldShape[] {
  return normalized === '' ? [] : findCanonical(shape, words)
}

/** The fields that some words name: except for case and separators, or else by synonyms. */
export function findByWords(shape: Shape, words: readonly string[]): FieldShape[] {
  const equal = findEqualNames(shape, words.join('_'))
  return equal.length > 0 ? equal : findCanonical(shape, words)
}

function findCanonical(shape: Shape, words: readonly string[]): FieldShape[] {
  const { byCanonical } = fieldIndexOf(shape)
  const found = canonicalKeys(words, true)
    .flatMap((key) => byCanonical.get(key) ?? [])
    .map(({ field }) => field)
  return [...new Set(found)]
}

/** The only field that a name means: by its exact name, except for case and separators, or by synonyms. */
export function findField(shape: Shape, name: string): FieldShape | undefined {
  const exact = shape.fields.get(name)
  if (exact) return exact
  const equal = findEqualNames(shape, name)
  const found = equal.length > 0 ? equal : findSynonyms(shape, parseName(name))
  return found.length === 1 ? found[0] : undefined
}
