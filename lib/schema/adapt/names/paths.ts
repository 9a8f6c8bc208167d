import type { Json, JsonObject } from '../../../core/json.ts'
import { parseName } from '../../similar-names.ts'
import type { Part } from '../adaptation.ts'
import type { FieldShape, Shape } from '../shape.ts'
import { canFit } from '../values/convert-value.ts'
import { findByWords, findEqualNames } from './find-field.ts'

/** A field under its declared name, with what it was sent as: one name, or the names that are paths of its parts. */
export type NamedField = { name: string; value: Json; parts: [Part, ...Part[]] }

/** `a.b`, `a[b]`, `a[0][b]`, `a.0.b`: names and indexes. */
const PATH = /^[^.[\]]+(?:\.[^.[\]]+|\[[^.[\]]+\])+$/

const MAX_SEGMENTS = 8

/**
 * Assembles objects and lists whose parts were sent as paths: `requester.name`, `requester[name]`, `items[0][sku]`, and
 * `requester_name` where `requester` is an object with `name`. A field is left as sent if one of its paths leads nowhere
 * or to a value that does not fit, or if an index is missing.
 */
export function assemblePaths(shape: Shape, sent: JsonObject, unknown: readonly string[]): NamedField[] {
  if (!shape.isClosed) return []
  const groups = new Map<FieldShape, Part[] | undefined>()
  for (const sentName of unknown) {
    const found = findPath(shape, sentName, sent[sentName] ?? null)
    if (!found) continue
    const { field, path } = found
    const parts = groups.has(field) ? groups.get(field) : []
    if (path) parts?.push({ sentName, path })
    groups.set(field, path ? parts : undefined)
  }
  return [...groups].flatMap(([{ name, shape: fieldShape }, parts = []]): NamedField[] => {
    const [first, ...others] = parts
    if (!first) return []
    const values = parts.map((part): PathValue => [part.path.slice(1), sent[part.sentName] ?? null])
    const value = assemble(fieldShape, values)
    return value === undefined ? [] : [{ name, value, parts: [first, ...others] }]
  })
}

type PathValue = [path: string[], value: Json]

type Found = { field: FieldShape; path: string[] | undefined }

/** The field that a name is a path into, and the path; undefined if it leads nowhere. */
function findPath(shape: Shape, name: string, value: Json): Found | undefined {
  if (PATH.test(name)) {
    const segments = name.split(/[.[\]]+/).filter(Boolean)
    const field = onlyOne(findEqualNames(shape, segments[0] ?? ''))
    if (!field || segments.length > MAX_SEGMENTS) return undefined
    const rest = resolve(field.shape, segments.slice(1), value)
    return { field, path: rest && [field.name, ...rest] }
  }
  const paths = resolveWords(shape, parseName(name).words, value)
  const [path] = paths
  const field = path && shape.fields.get(path[0] ?? '')
  return field && paths.length === 1 ? { field, path } : undefined
}

/** Follows segments into a shape. */
function resolve(shape: Shape, segments: readonly string[], value: Json): string[] | undefined {
  const [segment, ...rest] = segments
  if (segment === undefined) return canFit(shape, value) ? [] : undefined
  if (shape.types?.has('array')) {
    if (!/^(?:0|[1-9]\d{0,3})$/.test(segment) || !shape.items) return undefined
    const inside = resolve(shape.items, rest, value)
    return inside && [segment, ...inside]
  }
  const field = shape.fields.get(segment) ?? onlyOne(findEqualNames(shape, segment))
  const inside = field && resolve(field.shape, rest, value)
  return inside && [field.name, ...inside]
}

/** The paths that words can mean: an object's name, and the name of one of its fields, possibly in several levels. */
function resolveWords(shape: Shape, words: readonly string[], value: Json): string[][] {
  if (words.length < 2 || words.length > MAX_SEGMENTS) return []
  const paths: string[][] = []
  for (let end = 1; end < words.length; end += 1) {
    const field = onlyOne(findByWords(shape, words.slice(0, end)))
    if (!field || field.shape.fields.size === 0) continue
    const rest = words.slice(end)
    const leaf = onlyOne(findByWords(field.shape, rest))
    if (leaf && canFit(leaf.shape, value)) paths.push([field.name, leaf.name])
    else paths.push(...resolveWords(field.shape, rest, value).map((path) => [field.name, ...path]))
  }
  return paths
}

/** Builds the value of a shape from its parts; undefined if parts contradict each other or an index is missing. */
function assemble(shape: Shape, parts: PathValue[]): Json | undefined {
  const [first] = parts
  if (first && first[0].length === 0) return parts.length === 1 ? first[1] : undefined
  const byName = new Map<string, PathValue[]>()
  for (const [[name, ...rest], value] of parts) {
    if (name === undefined) return undefined
    const inside = byName.get(name)
    if (inside) inside.push([rest, value])
    else byName.set(name, [[rest, value]])
  }
  if (shape.types?.has('array')) {
    const items = Array.from(byName, (_, index) => {
      const itemParts = byName.get(`${index}`)
      return itemParts && shape.items ? assemble(shape.items, itemParts) : undefined
    })
    return items.every((item) => item !== undefined) ? items : undefined
  }
  const fields = [...byName].map(([name, inside]): [string, Json | undefined] => {
    const field = shape.fields.get(name)
    return [name, field && assemble(field.shape, inside)]
  })
  return fields.every((entry): entry is [string, Json] => entry[1] !== undefined)
    ? Object.fromEntries(fields)
    : undefined
}

const onlyOne = <T>(found: readonly T[]): T | undefined => (found.length === 1 ? found[0] : undefined)
