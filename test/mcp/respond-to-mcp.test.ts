import { describe, expect, it, vi } from 'vitest'
import { UNLIMITED } from '../../lib/core/access.ts'
import { Unavailable } from '../../lib/core/errors.ts'
import type { ServiceEvent } from '../../lib/http/event.ts'
import { logger } from '../../lib/logger.ts'
import { respondToMcp } from '../../lib/mcp/respond-to-mcp.ts'
import type { McpEngine } from '../../lib/mcp/tool-call.ts'
import { system } from '../../lib/system.ts'
import { modernRequest, parseMessages } from './messages.ts'

const access = { ...UNLIMITED, organizationId: system.newId(), tokenId: 't' }

function send(error: Error, method: string, params: { name?: string }, origin?: string, domainName = '') {
  const { headers, body } = modernRequest(method, params)
  const event = {
    headers: {
      ...headers,
      'Content-Type': 'application/json',
      ...(origin && { Origin: origin }),
      Host: 'evil.example',
    },
    body: JSON.stringify(body),
    requestContext: { requestId: 'r', domainName },
  } as unknown as ServiceEvent
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
