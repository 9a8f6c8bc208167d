import type { CallToolResult, Tool } from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { Scope } from '../core/access.ts'
import type { JsonObject } from '../core/json/json.ts'
import { compileStrictValidator } from '../schema/validate/validate.ts'
import { toObjectSchema } from './agent-tools.ts'
import { type McpEngine, type ToolCall, toArgumentsError } from './tool-call.ts'

/** A tool that is not an agent. Slugs have no underscores, so that names never collide. */
export type ServiceTool = {
  declaration: Tool
  /** What a token needs to call it. */
  scope: Scope
  run: (engine: McpEngine, call: ToolCall) => Promise<CallToolResult>
}

export const EXECUTION_ID = z.string().describe('The ID of the execution.')

type Definition<Input extends z.ZodObject> = Pick<Tool, 'name' | 'title' | 'description' | 'annotations'> & {
  input: Input
  output: z.ZodType
  scope: Scope
  run: (engine: McpEngine, call: ToolCall, input: z.output<Input>) => Promise<CallToolResult>
}

/** Validates the arguments with the input schema that clients see. */
export function serviceTool<Input extends z.ZodObject>(definition: Definition<Input>): ServiceTool {
  const { input, output, scope, run, ...tool } = definition
  const inputSchema = toJsonSchema(input)
  const validate = compileStrictValidator(inputSchema)
  return {
    declaration: { ...tool, inputSchema, outputSchema: toJsonSchema(output) },
    scope,
    async run(engine, call) {
      const violations = validate(call.input)
      if (violations.length > 0) return toArgumentsError(violations)
      return run(engine, call, call.input as z.output<Input>)
    },
  }
}

function toJsonSchema(schema: z.ZodType) {
  return toObjectSchema(z.toJSONSchema(schema) as JsonObject)
}
