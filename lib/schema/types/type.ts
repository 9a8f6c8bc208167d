import type { Json } from '../../core/json.ts'

/** A type of a programming language for the JSON values that a schema accepts; written by one writer per language. */
export type Type =
  | { kind: 'unknown' | 'never' | 'string' | 'number' | 'integer' | 'boolean' | 'null' }
  | { kind: 'literal'; value: string | number | boolean | null }
  | ObjectType
  | { kind: 'array'; items: Type }
  /** `rest`: type of the items after those; null if there are none. */
  | { kind: 'tuple'; items: Type[]; minItems: number; rest: Type | null }
  | { kind: 'union' | 'intersection'; members: Type[] }
  /** Of a declaration. */
  | { kind: 'reference'; name: string }

/** `rest`: type of the undeclared fields; null if there are none. */
export type ObjectType = { kind: 'object'; properties: Property[]; rest: Type | null }

export type Property = { name: string; type: Type; isRequired: boolean } & Annotations

export type Annotations = { description: string | null; default?: Json; isDeprecated: boolean }

export type TypeDeclaration = { name: string; type: Type } & Annotations

export const UNKNOWN: Type = { kind: 'unknown' }
export const NEVER: Type = { kind: 'never' }

/** A union without repetitions, nested unions and `never`. */
export function union(types: Type[]): Type {
  const members = unique(types.flatMap((type) => (type.kind === 'union' ? type.members : [type])))
  if (members.some(({ kind }) => kind === 'unknown')) return UNKNOWN
  const possible = members.filter(({ kind }) => kind !== 'never')
  const [only = NEVER] = possible
  return possible.length < 2 ? only : { kind: 'union', members: possible }
}

/** An intersection without repetitions, nested intersections and `unknown`. */
export function intersection(types: Type[]): Type {
  const members = unique(types.flatMap((type) => (type.kind === 'intersection' ? type.members : [type])))
  if (members.some(({ kind }) => kind === 'never')) return NEVER
  const restrictions = members.filter(({ kind }) => kind !== 'unknown')
  const [only = UNKNOWN] = restrictions
  return restrictions.length < 2 ? only : { kind: 'intersection', members: restrictions }
}

const unique = (types: Type[]): Type[] => [
  ...new Map(types.map((type) => [JSON.stringify(type), type])).values(),
]

/** The type of one value, such as one of an `enum`. */
export function literalType(value: Json | undefined): Type {
  if (value === undefined || (typeof value === 'number' && !Number.isFinite(value))) return UNKNOWN
  if (typeof value !== 'object' || value === null) return { kind: 'literal', value }
  if (Array.isArray(value)) {
    return { kind: 'tuple', items: value.map(literalType), minItems: value.length, rest: null }
  }
  const properties = Object.entries(value).map(([name, part]) => ({
    name,
    type: literalType(part),
    isRequired: true,
    description: null,
    isDeprecated: false,
  }))
  return { kind: 'object', properties, rest: null }
}
