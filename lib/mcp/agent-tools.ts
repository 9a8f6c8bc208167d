import type { Tool } from '@modelcontextprotocol/server'
import type { WaitRecord } from '../contract/records/execution.ts'
import type { Scope } from '../core/access.ts'
import type { Version } from '../core/agent.ts'
import type { JsonObject } from '../core/json/json.ts'
import { toJsonSchema } from '../schema/field-map.ts'
import { mapSubschemas } from '../schema/subschemas.ts'

/** What a token needs to call an agent. */
export const AGENT_SCOPE: Scope = 'run'

/** The structured content of a call whose run continues. */
export type PendingRun = { executionId: string; status: 'IN_PROGRESS'; waitingFor?: WaitRecord[] }

const PENDING_RUN: JsonObject = {
  type: 'object',
  description: 'The run continues. Call get_execution with the executionId for its output.',
  properties: {
    executionId: { type: 'string', format: 'uuid' },
    status: { const: 'IN_PROGRESS' },
    waitingFor: {
      type: 'array',
      items: { type: 'object' },
      description: 'What the run waits for, as in its record. Absent unless it is suspended.',
    },
  },
  required: ['executionId', 'status'],
  additionalProperties: false,
}

/** An agent as an MCP tool. */
export function toAgentTool({
  slug,
  title,
  description,
  inputSchema,
  outputSchema,
  tools,
  code,
}: Version): Tool {
  // A model without tools only computes its output. What tools and code do is not known.
  const isPure = tools.length === 0 && !code
  return {
    name: slug,
    title,
    description: description ?? title,
    inputSchema: toObjectSchema(toJsonSchema(inputSchema)),
    outputSchema: {
      type: 'object',
      anyOf: [moveReferences(toObjectSchema(toJsonSchema(outputSchema)), '/anyOf/0'), PENDING_RUN],
    },
    annotations: isPure ? { readOnlyHint: true, openWorldHint: false } : { readOnlyHint: false },
  }
}

/** Adapts references to the schema's new place in another one. With an `$id`, they are relative to it. */
function moveReferences(schema: JsonObject, pointer: string): JsonObject {
  if (typeof schema.$id === 'string') return schema
  return mapSubschemas(schema, (part) => {
    const { $ref } = part
    const isPointer = typeof $ref === 'string' && /^#(?:\/|$)/.test($ref)
    return isPointer ? { ...part, $ref: `#${pointer}${$ref.slice(1)}` } : part
  })
}

/**
 * A JSON Schema of objects with the type that clients require at its root. 2020-12 is the default dialect of MCP, and
 * clients of 2025 reject its `$schema`.
 */
export function toObjectSchema({ $schema: _, ...schema }: JsonObject): JsonObject & { type: 'object' } {
  return { ...schema, type: 'object' }
}
