import type { Json } from '../../core/json/json.ts'

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

export const requiredProperty = (name: string, type: Type, description: string | null = null): Property => ({
  ...{ name, type, description },
  ...{ isRequired: true, isDeprecated: false },
})

export const UNKNOWN: Type = { kind: 'unknown' }
export const NEVER: Type = { kind: 'never' }

/** A union without repetitions, nested unions and `never`. */
export const union = (types: Type[]): Type => combine('union', types, UNKNOWN, NEVER)

/** An intersection without repetitions, nested intersections and `unknown`. */
export const intersection = (types: Type[]): Type => combine('intersection', types, NEVER, UNKNOWN)

/** `dominant`: the member that decides alone. `neutral`: the member that changes nothing. */
function combine(kind: 'union' | 'intersection', types: Type[], dominant: Type, neutral: Type): Type {
  const members = unique(types.flatMap((type) => (type.kind === kind ? type.members : [type])))
  if (members.some((member) => member.kind === dominant.kind)) return dominant
  const others = members.filter((member) => member.kind !== neutral.kind)
  const [only = neutral] = others
  return others.length < 2 ? only : { kind, members: others }
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
  const properties = Object.entries(value).map(([name, part]) => requiredProperty(name, literalType(part)))
  return { kind: 'object', properties, rest: null }
}

/**
 * Replaces references that lead back to their own declaration through unions and intersections only, which is an error
 * in most languages: `type A = A | string`. Such a schema does not restrict the value.
 */
export function breakDirectCycles(declarations: TypeDeclaration[]): TypeDeclaration[] {
  const types = new Map(declarations.map(({ name, type }) => [name, type]))
  for (const { name } of declarations) {
    const withoutCycle = (type: Type): Type => {
      if (type.kind === 'reference') return reaches(type, name, types) ? UNKNOWN : type
      if (type.kind === 'union') return union(type.members.map(withoutCycle))
      return type.kind === 'intersection' ? intersection(type.members.map(withoutCycle)) : type
    }
    types.set(name, withoutCycle(types.get(name) ?? UNKNOWN))
  }
  return declarations.map((declaration) => ({ ...declaration, type: types.get(declaration.name) ?? UNKNOWN }))
}

function reaches(from: Type, goal: string, types: Map<string, Type>, seen = new Set<string>()): boolean {
  if (from.kind === 'union' || from.kind === 'intersection')
    return from.members.some((member) => reaches(member, goal, types, seen))
  if (from.kind !== 'reference' || seen.has(from.name)) return false
  seen.add(from.name)
  return from.name === goal || reaches(types.get(from.name) ?? UNKNOWN, goal, types, seen)
}

/** The name of a type in PascalCase for any text: `redact-pii` → `RedactPii`. Starts with a letter. */
export function toTypeName(text: string): string {
  const words = text.match(/[A-Za-z0-9]+/g) ?? []
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
  return /^[A-Z]/.test(name) ? name : `Type${name}`
}

/** Adds the name to the taken ones; with a number if it is taken. */
export function takeName(name: string, taken: Set<string>): string {
  let free = name
  for (let number = 2; taken.has(free); number += 1) free = `${name}${number}`
  taken.add(free)
  return free
}
