import type { JsonObject } from '../../core/json/json.ts'
import { toTypes } from './to-types.ts'
import { type Property, requiredProperty, type TypeDeclaration, toTypeName } from './type.ts'
import { writeTypeScript } from './write-typescript.ts'

/** What types are written of: part of an agent's record. */
export type TypedAgent = {
  slug: string
  description: string | null
  inputSchema: Record<string, unknown>
  outputSchema: Record<string, unknown>
}

const HEADER = 'Written by `agent-execution types`: run it again after a publish.'

/** The type of all agents by slug, which the client takes. */
const MAP = 'Agents'

/** A module with the input and output types of agents, and their map by slug. */
export function writeTypeScriptModule(agents: TypedAgent[]): string {
  const taken = new Set([MAP])
  const { declarations, entries } = declare(agents, taken)
  const map: TypeDeclaration = {
    name: MAP,
    type: { kind: 'object', properties: entries, rest: null },
    description: 'The agents by slug, for `new Client<Agents>(…)`.',
    isDeprecated: false,
  }
  return `// ${HEADER}\n\n${writeTypeScript([...declarations, map])}`
}

function declare(agents: TypedAgent[], taken: Set<string>) {
  const declarations: TypeDeclaration[] = []
  const entries: Property[] = []
  const add = (name: string, schema: Record<string, unknown>) => {
    const [type, ...others] = toTypes(schema as JsonObject, { name, taken })
    if (!type) throw new Error(`${name} has no type.`)
    declarations.push(type, ...others)
    return { kind: 'reference', name: type.name } as const
  }
  const sorted = agents.toSorted((a, b) => (a.slug < b.slug ? -1 : 1))
  for (const { slug, description, inputSchema, outputSchema } of sorted) {
    const name = toTypeName(slug)
    const input = add(`${name}Input`, inputSchema)
    const output = add(`${name}Output`, outputSchema)
    const types = [requiredProperty('input', input), requiredProperty('output', output)]
    entries.push(requiredProperty(slug, { kind: 'object', properties: types, rest: null }, description))
  }
  return { declarations, entries }
}
