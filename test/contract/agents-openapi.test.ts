import { describe, expect, it } from 'vitest'
import { agentsOpenApi } from '../../lib/contract/agents-openapi.ts'
import type { JsonObject } from '../../lib/core/json/json.ts'

const refund = {
  slug: 'refund-order',
  title: 'Refund an order',
  description: null,
  inputSchema: { order: { type: 'string', description: 'The order.' } },
  outputSchema: {
    type: 'object',
    properties: { parts: { type: 'array', items: { $ref: '#/$defs/part' } } },
    $defs: { part: { type: 'object', properties: { next: { $ref: '#/$defs/part' } } } },
  },
}
const file = {
  slug: 'file',
  title: 'File',
  description: 'Reads a file.',
  inputSchema: { file: { type: 'file', description: 'A file.' } },
  outputSchema: { text: { type: 'string', description: 'Its text.' } },
}

describe('agentsOpenApi', () => {
  const document = agentsOpenApi([refund, file] as never, 'Agents') as Record<string, JsonObject>
  const { paths = {} } = document
  const schemas = document.components?.schemas as Record<string, JsonObject>

  it('has a typed path for each agent, with its input, output, parameters and errors', () => {
    expect(document.openapi).toBe('3.1.0')
    expect(Object.keys(document.paths ?? {})).toEqual([
      '/v1/agents/refund-order/executions',
      '/v1/agents/file/executions',
    ])
    const { post } = paths['/v1/agents/refund-order/executions'] as { post: JsonObject }
    expect(post).toMatchObject({
      operationId: 'run-refund-order',
      summary: 'Refund an order',
      requestBody: {
        content: { 'application/json': { schema: { $ref: '#/components/schemas/RefundOrderInput' } } },
      },
      responses: {
        200: {
          content: { 'application/json': { schema: { $ref: '#/components/schemas/RefundOrderOutput' } } },
        },
        202: {},
        404: { content: { 'application/problem+json': {} } },
      },
    })
    const names = (post.parameters as JsonObject[]).map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['tenantId', 'Idempotency-Key', 'traceparent']))
    expect(names).not.toContain('agentId')
    expect(schemas.RefundOrderInput).toMatchObject({ type: 'object', required: ['order'] })
  })

  it('has the definitions of a schema beside it, where generators look for them', () => {
    const next = { $ref: '#/components/schemas/RefundOrderOutputPart' }
    expect(schemas.RefundOrderOutputPart).toEqual({ type: 'object', properties: { next } })
    expect(schemas.RefundOrderOutput).not.toHaveProperty('$defs')
  })

  it('resolves every reference, and has no schema that nothing refers to', () => {
    const text = JSON.stringify(document)
    const references = [...text.matchAll(/"\$ref":"#([^"]+)"/g)].map(([, pointer = '']) => pointer)
    for (const pointer of references) {
      const found = pointer
        .slice(1)
        .split('/')
        .reduce<unknown>((value, key) => (value as JsonObject | undefined)?.[key], document)
      expect(found, pointer).toBeDefined()
    }
    const used = new Set(references.map((pointer) => pointer.split('/')[3]))
    expect(Object.keys(schemas).filter((name) => !used.has(name))).toEqual([])
    // The service has a schema of that name.
    expect(schemas.FileInput2 ?? schemas.FileInput).toHaveProperty('properties.file')
  })
})
