import type { Agent } from '../core/agent.ts'
import { isJsonObject, type Json, type JsonObject } from '../core/json/json.ts'
import { toJsonSchema } from '../schema/field-map.ts'
import { mapSubschemas } from '../schema/subschemas.ts'
import { openApiDocument } from './openapi.ts'

type DescribedAgent = Pick<Agent, 'slug' | 'title' | 'description' | 'inputSchema' | 'outputSchema'>

const RUN_PATH = '/v1/agents/{agentId}/executions'
const SCHEMAS = '#/components/schemas/'

/**
 * An OpenAPI 3.1 document with one path for each agent, whose input and output have types. Generators make typed calls
 * of it. @param title of all of them
 */
export function agentsOpenApi(agents: DescribedAgent[], title: string): JsonObject {
  const {
    components = {},
    paths = {},
    ...service
  } = openApiDocument() as unknown as Record<string, JsonObject>
  const known = (components.schemas ?? {}) as JsonObject
  const run = (paths[RUN_PATH] as JsonObject).post as JsonObject
  const schemas: JsonObject = {}
  const nameOf = (base: string): string => {
    let name = base
    for (let n = 2; name in schemas || name in known; n++) name = `${base}${n}`
    schemas[name] = {}
    return name
  }
  const add = (slug: string, kind: 'Input' | 'Output', declared: JsonObject): JsonObject => {
    const { $schema: _, $defs = {}, definitions = {}, ...root } = toJsonSchema(declared)
    const name = nameOf(`${toPascalCase(slug)}${kind}`)
    // Generators find definitions only where all other schemas are.
    const parts = Object.entries({ $defs, definitions }).flatMap(([member, definitions]) =>
      Object.entries(definitions as Record<string, JsonObject>).map(([key, definition]) => {
        const pointer = `#/${member}/${toToken(key)}`
        return { pointer, name: nameOf(`${name}${toPascalCase(key)}`), definition }
      }),
    )
    schemas[name] = rebase(root, name, parts)
    for (const part of parts) schemas[part.name] = rebase(part.definition, name, parts)
    return { $ref: `${SCHEMAS}${name}` }
  }
  const typed = agents.map((agent) => {
    const { slug, description, inputSchema, outputSchema } = agent
    const input = add(slug, 'Input', inputSchema)
    const output = add(slug, 'Output', outputSchema)
    const responses = run.responses as Record<string, JsonObject>
    const operation = {
      ...run,
      operationId: `run-${slug}`,
      summary: agent.title,
      ...(description !== null && { description: asComment(description) }),
      parameters: (run.parameters as JsonObject[]).filter((parameter) => parameter.in !== 'path'),
      requestBody: { required: true, content: { 'application/json': { schema: input } } },
      responses: {
        ...responses,
        200: {
          ...responses[200],
          description: 'The output',
          content: { 'application/json': { schema: output } },
        },
      },
    }
    return [`/v1/agents/${slug}/executions`, { post: operation }] as const
  })
  const own = { paths: Object.fromEntries(typed), schemas }
  const { tags: _, info, ...rest } = service
  return {
    ...rest,
    info: { ...info, title },
    paths: own.paths as JsonObject,
    components: { ...components, schemas: { ...referredBy(own as JsonObject, known), ...schemas } },
  }
}

/** CommonMark that ends no comment of the code that generators write. */
const asComment = (text: string): string => text.replaceAll('*/', '*\\/')

/** The name of a type: letters and digits. */
const toPascalCase = (text: string): string =>
  text
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')

/** Part of a JSON Pointer in a URL fragment (RFC 6901, section 6). */
const toToken = (key: string): string => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))

type Part = { pointer: string; name: string }

/** References within the schema of this name, as they are from the root of the document. */
const rebase = (schema: JsonObject, name: string, parts: Part[]): JsonObject =>
  mapSubschemas(schema, (part) => {
    const { $ref } = part
    if (typeof $ref !== 'string' || !$ref.startsWith('#')) return part
    const moved = parts.find(({ pointer }) => $ref === pointer || $ref.startsWith(`${pointer}/`))
    const [target, rest] = moved ? [moved.name, $ref.slice(moved.pointer.length)] : [name, $ref.slice(1)]
    return { ...part, $ref: `${SCHEMAS}${target}${rest}` }
  })

/** The schemas of the service that a value refers to, and those that they refer to. */
function referredBy(value: Json, known: JsonObject, found: JsonObject = {}): JsonObject {
  if (Array.isArray(value)) for (const each of value) referredBy(each, known, found)
  if (!isJsonObject(value)) return found
  const name = typeof value.$ref === 'string' ? value.$ref.slice(SCHEMAS.length) : ''
  const schema = known[name]
  if (schema !== undefined && !(name in found)) {
    found[name] = schema
    referredBy(schema, known, found)
  }
  for (const each of Object.values(value)) referredBy(each, known, found)
  return found
}
