import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import type { Version } from '../../lib/core/agent.ts'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { toAgentTool } from '../../lib/mcp/agent-tools.ts'

const aVersion = (overrides: Partial<Version>): Version => ({
  id: 'v',
  agentId: 'a',
  organizationId: 'o',
  slug: 'tree',
  status: 'PUBLISHED',
  title: 'Tree',
  description: null,
  createdAt: '2026-11-22T00:00:00.000Z',
  createdBy: 'o',
  inputSchema: {},
  outputSchema: {},
  model: null,
  tools: [],
  code: false,
  env: [],
  instructions: '',
  execution: { useCache: false, cacheTtlSeconds: null, maxAgentSteps: 100, timeoutSeconds: null },
  digest: '',
  documentHash: '',
  ...overrides,
})

const PENDING = { executionId: '01a202e0-9b5e-7445-95df-f3a68bd3cead', status: 'IN_PROGRESS' }
const WAITING = { ...PENDING, waitingFor: [{ kind: 'signal', name: 'go' }] }

describe('toAgentTool', () => {
  it.each<[string, JsonObject, JsonObject, JsonObject]>([
    ['a field map', { n: { type: 'integer' } }, { n: 1 }, { n: 'x' }],
    [
      'a schema that refers to itself',
      {
        type: 'object',
        properties: { child: { $ref: '#' }, n: { type: 'integer' } },
        additionalProperties: false,
      },
      { n: 1, child: { n: 2, child: {} } },
      { child: { child: { n: 'x' } } },
    ],
    [
      'a schema with an ID and an anchor',
      {
        $id: 'https://example.com/output',
        type: 'object',
        $defs: { n: { $anchor: 'n', type: 'integer' } },
        properties: { a: { $ref: '#n' }, b: { $ref: '#/$defs/n' } },
      },
      { a: 1, b: 2 },
      { b: 'x' },
    ],
  ])('declares outputs and pending runs, for %s', (_, outputSchema, output, other) => {
    const tool = toAgentTool(aVersion({ outputSchema }))
    expect(tool.outputSchema).toMatchObject({ type: 'object' })
    expect(JSON.stringify(tool)).not.toContain('$schema')
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(
      tool.outputSchema as object,
    )
    expect([output, PENDING, WAITING, other].map((value) => validate(value))).toEqual([
      true,
      true,
      true,
      false,
    ])
  })

  it('describes an agent by its title if it has no description', () => {
    expect(toAgentTool(aVersion({}))).toMatchObject({ name: 'tree', title: 'Tree', description: 'Tree' })
  })

  it.each([
    ['a model', {}, { readOnlyHint: true, openWorldHint: false }],
    ['a model with tools', { tools: [{}] }, { readOnlyHint: false }],
    ['code', { code: true }, { readOnlyHint: false }],
  ])('promises only what it knows of %s', (_, overrides, annotations) => {
    expect(toAgentTool(aVersion(overrides)).annotations).toEqual(annotations)
  })
})
