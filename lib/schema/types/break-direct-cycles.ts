import { intersection, type Type, type TypeDeclaration, UNKNOWN, union } from './type.ts'

/**
 * Replaces references that lead back to their own declaration through unions and intersections only, which is an error in
 * most languages: `type A = A | string`. Such a schema does not restrict the value.
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
