import { describe, expect, it } from 'vitest'
import { toProvider } from '../../lib/access/protected-resource.ts'
import { type Access, type Scope, UNLIMITED } from '../../lib/core/access.ts'
import type { Challenge, ServiceError } from '../../lib/core/errors.ts'
import { respondToMcp } from '../../lib/mcp/respond-to-mcp.ts'
import type { McpEngine } from '../../lib/mcp/tool-call.ts'
import { system } from '../../lib/system.ts'
import { modernRequest, parseMessages, TASKS, toMcpEvent } from './messages.ts'

type Caller = { scopes?: Scope[]; subject?: string }

const providerOf = (scopes: unknown) => toProvider('https://login.example.com', JSON.stringify({ scopes }))
const SCOPES = providerOf({ claim: 'scope' })

/** Sends a message as a caller who may only read, by default one of the provider. */
async function send(
  request: ReturnType<typeof modernRequest>,
  { scopes = ['read'], ...caller }: Caller = { subject: 'ann' },
  provider: typeof SCOPES | null = SCOPES,
) {
  const access: Access = { ...UNLIMITED, organizationId: system.newId(), tokenId: 't', scopes, ...caller }
  const event = toMcpEvent(request)
  const none = async () => null
  const list = async () => ({ items: [], next: null })
  const engine = { agents: { list, get: none }, executions: { get: none }, system, syncDeadlineMs: 1_000 }
  const params = {
    engine: engine as unknown as McpEngine,
    corsOrigins: [],
    access,
    event,
    ...(provider && { provider }),
  }
  const answer = await respondToMcp(params).catch((error: ServiceError) => error)
  if (!('stream' in answer))
    return { challenge: (answer as { challenge?: Challenge }).challenge, status: answer.status }
  return { status: answer.status, message: parseMessages(String(answer.stream))[0] }
}

const call = (name: string, input = {}) => modernRequest('tools/call', { name, arguments: input })
const task = (method: string) => modernRequest(method, { taskId: crypto.randomUUID() }, TASKS)

const UNKNOWN = { status: 200, message: { error: { code: -32602, message: 'Unknown tool: echo' } } }

describe('a caller of the identity provider', () => {
  it.each([
    ['a call of an agent', call('echo'), 'run'],
    ['cancel_execution', call('cancel_execution'), 'run'],
    ['decide_approval', call('decide_approval'), 'approve'],
    ['tasks/cancel', task('tasks/cancel'), 'run'],
  ])('is asked for more scopes, and keeps those that it has: %s', async (_, request, needed) => {
    expect(await send(request)).toEqual({
      status: 403,
      challenge: { error: 'insufficient_scope', description: expect.any(String), scopes: ['read', needed] },
    })
  })

  it('is not asked for what it has', async () => {
    const { status, message } = await send(call('list_executions', { status: 'x' }))
    expect([status, message.result.isError]).toEqual([200, true])
    expect((await send(modernRequest('tools/list'))).status).toBe(200)
    expect((await send(task('tasks/get'))).message.error.code).toBe(-32602)
  })

  it.each([
    ['scopes of the provider do not matter', providerOf(['read'])],
    ['they come from groups', providerOf({ claim: 'groups', values: { staff: ['run'] } })],
    ['the function does not know the mapping', toProvider('https://login.example.com', undefined)],
  ])('does not know the tool if asking for more would not help: %s', async (_, provider) => {
    expect(await send(call('echo'), undefined, provider)).toMatchObject(UNKNOWN)
  })
})

it('an API token, whose scopes are fixed, does not know the tool', async () => {
  expect(await send(call('echo'), {})).toMatchObject(UNKNOWN)
})
