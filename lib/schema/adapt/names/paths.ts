import type { Json, JsonObject } from '../../../core/json/json.ts'
import type { ParsedName } from '../../similar-names.ts'
import type { Part } from '../adaptation.ts'
import type { FieldShape, Shape } from '../shape.ts'
import { canFit } from '../values/convert-value.ts'
import { fieldIndexOf, findByWords, findEqualNames } from './find-field.ts'

/** A field under its declared name, and the name or the parts that it was sent as. */
export type NamedField = { name: string; value: Json; sentName: string; parts?: readonly Part[] }

/** `a.b`, `a[b]`, `a[0][b]`, `a.0.b`: names and indexes. */
const PATH = /^[^.[\]]+(?:\.[^.[\]]+|\[[^.[\]]+\])+$/

const MAX_SEGMENTS = 8

/** A path that a name can mean: from the field that contains it, and with the shape at its end. */
export type FieldPath = { field: FieldShape; path: string[]; end: Shape }

/** What a name can mean as a path. `unresolved`: the field that has no such path. */
export type Paths = { paths: FieldPath[]; unresolved?: FieldShape }

/**
 * Assembles objects and lists whose parts were sent as paths: `requester.name`, `requester[name]`, `items[0][sku]`, and
 * `requester_name` where `requester` is an object with `name`. A field is left as sent if one of its paths
 * cannot be resolved or leads to a value that does not fit, or if an index is missing.
 */
export function assemblePaths(
  shape: Shape,
  sent: JsonObject,
  unknown: readonly string[],
  findPaths: (shape: Shape, name: string) => Paths,
): NamedField[] {
  if (!shape.isClosed || !fieldIndexOf(shape).hasParts) return []
  const broken = new Set<FieldShape>()
  const found = unknown.flatMap((sentName) => {
    const { paths, unresolved } = findPaths(shape, sentName)
    if (unresolved) broken.add(unresolved)
    const target = onlyOne(paths.filter(({ end }) => canFit(end, sent[sentName] ?? null)))
    return target ? { field: target.field, path: [target.field.name, ...target.path], sentName } : []
  })
  return [...Map.groupBy(found, ({ field }) => field)].flatMap(([field, parts]): NamedField[] => {
    const values = parts.map(({ path, sentName }): PathValue => [path.slice(1), sent[sentName] ?? null])
    const value = broken.has(field) ? undefined : assemble(field.shape, values)
    const [{ sentName } = { sentName: '' }] = parts
    return value === undefined ? [] : [{ name: field.name, value, sentName, parts }]
  })
}

/** What a name can mean as a path, whatever its value. */
export function findPaths(shape: Shape, { name, words }: ParsedName): Paths {
  if (!PATH.test(name)) return { paths: resolveWords(shape, words) }
  const [first = '', ...segments] = name.split(/[.[\]]+/).filter(Boolean)
  const field = onlyOne(findEqualNames(shape, first))
  if (!field || segments.length >= MAX_SEGMENTS) return { paths: [] }
  const found = resolve(field.shape, segments)
  return found ? { paths: [{ field, ...found }] } : { paths: [], unresolved: field }
}

type PathValue = [path: string[], value: Json]

type Target = Omit<FieldPath, 'field'>

function resolve(shape: Shape, segments: readonly string[]): Target | undefined {
  const [segment, ...rest] = segments
  if (segment === undefined) return { path: [], end: shape }
  if (shape.types?.has('array')) {
    if (!/^(?:0|[1-9]\d{0,3})$/.test(segment) || !shape.items) return undefined
    const inside = resolve(shape.items, rest)
    return inside && { ...inside, path: [segment, ...inside.path] }
  }
  const field = shape.fields.get(segment) ?? onlyOne(findEqualNames(shape, segment))
  const inside = field && resolve(field.shape, rest)
  return inside && { ...inside, path: [field.name, ...inside.path] }
}

/** The paths that words can mean: an object's name, and the name of one of its fields, possibly in several levels. */
function resolveWords(shape: Shape, words: readonly string[]): FieldPath[] {
  if (words.length < 2 || words.length > MAX_SEGMENTS) return []
  const found: FieldPath[] = []
  for (let length = 1; length < words.length; length += 1) {
    const field = onlyOne(findByWords(shape, words.slice(0, length)))
    if (!field || field.shape.fields.size === 0) continue
    const rest = words.slice(length)
    const leaf = onlyOne(findByWords(field.shape, rest))
    if (leaf) found.push({ field, path: [leaf.name], end: leaf.shape })
    for (const { field: inner, path, end } of leaf ? [] : resolveWords(field.shape, rest))
      found.push({ field, path: [inner.name, ...path], end })
  }
  return found
}

/** Builds the value of a shape from its parts; undefined if parts contradict each other or an index is missing. */
function assemble(shape: Shape | undefined, parts: PathValue[]): Json | undefined {
  const [first] = parts
  if (!shape || !first) return undefined
  if (parts.some(([path]) => path.length === 0)) return parts.length === 1 ? first[1] : undefined
  const byName = Map.groupBy(parts, ([[name = '']]) => name)
  const assembleAt = (name: string, inner: Shape | undefined) => {
    const values = byName.get(name) ?? []
    return assemble(
      inner,
      values.map(([[, ...rest], value]): PathValue => [rest, value]),
    )
  }
  if (shape.types?.has('array')) {
    const items = Array.from(byName, (_, index) => assembleAt(`${index}`, shape.items))
    return items.every((item) => item !== undefined) ? items : undefined
  }
  const toEntry = (name: string) => [name, assembleAt(name, shape.fields.get(name)?.shape)] as const
  const fields = [...byName.keys()].map(toEntry)
  return fields.every((entry): entry is readonly [string, Json] => entry[1] !== undefined)
    ? Object.fromEntries(fields)
    : undefined
}

const onlyOne = <T>(found: readonly T[]): T | undefined => (found.length === 1 ? found[0] : undefined)
