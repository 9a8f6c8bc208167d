import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it, vi } from 'vitest'
import { UNLIMITED } from '../../lib/core/access.ts'
import type { Version } from '../../lib/core/agent.ts'
import { macOf } from '../../lib/core/callback-mac.ts'
import { Unavailable } from '../../lib/core/errors.ts'
import type { Json, JsonObject } from '../../lib/core/json/json.ts'
import { logger } from '../../lib/logger.ts'
import { toAgentTool } from '../../lib/mcp/agent-tools.ts'
import { toElicitation } from '../../lib/mcp/elicitation.ts'
import { respondToMcp } from '../../lib/mcp/respond-to-mcp.ts'
import type { McpEngine } from '../../lib/mcp/tool-call.ts'
import { system } from '../../lib/system.ts'
import { PDF } from '../support/data/files.ts'
import { aVersion } from '../support/rollouts/rollout-run.ts'
import { modernRequest, parseMessages, toMcpEvent } from './messages.ts'

const treeVersion = (overrides: Partial<Version>) =>
  aVersion({ organizationId: 'o', slug: 'tree', title: 'Tree', ...overrides })

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
    const tool = toAgentTool(treeVersion({ outputSchema }))
    expect(tool.outputSchema).toMatchObject({ type: 'object' })
    expect(JSON.stringify(tool)).not.toContain('$schema')
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(
      tool.outputSchema as object,
    )
    for (const value of [output, PENDING, WAITING]) expect(validate(value)).toBe(true)
    expect(validate(other)).toBe(false)
  })

  it('describes an agent by its title if it has no description', () => {
    expect(toAgentTool(treeVersion({}))).toMatchObject({ name: 'tree', title: 'Tree', description: 'Tree' })
  })

  it.each([
    ['a model', {}, { readOnlyHint: true, openWorldHint: false }],
    ['a model with tools', { tools: [{}] }, { readOnlyHint: false }],
    ['code', { code: true }, { readOnlyHint: false }],
  ])('promises only what it knows of %s', (_, overrides, annotations) => {
    expect(toAgentTool(treeVersion(overrides)).annotations).toEqual(annotations)
  })
})

const messageOf = (input: Json, title = 'Refund?') =>
  toElicitation({ name: 'refund', title, input }).params.message

describe('toElicitation', () => {
  it('shortens what is too long to read', () => {
    const message = messageOf({ text: 'x'.repeat(5_000_000) }, 'T'.repeat(10_000))
    expect(message).toHaveLength('refund: '.length + 500 + 2_000 + 3)
    expect(message.match(/…/g)).toHaveLength(2)
  })

  it('describes files', () => {
    expect(messageOf({ file: `data:application/pdf;base64,${PDF.data}` })).toContain('"bytes":40')
  })

  it('shows no secret of a callback', () => {
    const mac = macOf('secret', 'e', 'done')
    const message = messageOf({ url: `https://a.example/v1/callbacks/e/done/${mac}` }, `Call ${mac}?`)
    expect(message).not.toContain(mac)
    expect(message).toContain('https://a.example/v1/callbacks/e/done/')
  })
})

const access = { ...UNLIMITED, organizationId: system.newId(), tokenId: 't' }

function send(error: Error, method: string, params: { name?: string }, origin?: string, domainName = '') {
  const { headers, body } = modernRequest(method, params)
  const sent = { ...headers, ...(origin && { Origin: origin }), Host: 'evil.example' }
  const event = toMcpEvent({ headers: sent, body }, domainName)
  const fail = () => Promise.reject(error)
  const engine = { agents: { list: fail, get: fail }, system, syncDeadlineMs: 1_000 } as unknown as McpEngine
  return respondToMcp({ engine, corsOrigins: [], access, event })
}

describe('respondToMcp', () => {
  it.each([
    ['tools/list', {}],
    ['tools/call', { name: 'echo', arguments: {} }],
  ])('logs and counts an error of the service during %s, and hides its cause', async (method, params) => {
    const log = vi.spyOn(logger, 'error').mockImplementation(() => undefined)
    const cause = new Error('secret-table does not respond')
    const { status, stream } = await send(new Unavailable(cause), method, params)
    const [message] = parseMessages(String(stream))
    expect([status, message.error.code]).toEqual([200, -32603])
    expect(message.error.message).toContain('Retry in a moment')
    expect(JSON.stringify(message)).not.toContain('secret-table')
    const entry = { operation: 'serve-mcp', requestId: 'r', code: 'Unavailable' }
    await vi.waitFor(() => expect(log).toHaveBeenCalledWith('request failed', expect.objectContaining(entry)))
    log.mockRestore()
  })

  it.each([
    ['https://api.example', 'api.example', 200],
    ['https://evil.example', 'api.example', 403],
    ['http://evil.example', '', 403],
  ])('responds to a page of %s on the domain name "%s" with %i', async (origin, domainName, status) => {
    const responding = send(new Error(), 'server/discover', {}, origin, domainName)
    expect((await responding.catch((error) => error)).status).toBe(status)
  })
})
