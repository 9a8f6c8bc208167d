import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import type { Tools } from '../../../lib/tools/open-tools.ts'
import { json } from '../serve.ts'
import { call } from '../tools.ts'
import { type Answer, FIND, INITIALIZED, serveOdd } from './odd-mcp-server.ts'

const events = (response: ServerResponse, text: string) =>
  response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text)
const text = (value: string) => ({ type: 'text', text: value })
const namesOf = ({ declarations }: Tools) => declarations.map(({ name }) => name)
/** The result of a call of the tool of a server that answers so. */
const callFind = async (answers: Record<string, Answer>) =>
  call(await (await serveOdd(answers)).open(), 'crm_find', {})

describe('the list of tools', () => {
  const odd = (inputSchema: unknown) => ({ name: 'odd', inputSchema })
  const anyOf = [{ required: ['a'] }]
  const nulls = {
    type: 'object',
    required: null,
    properties: { a: { type: 'string', enum: null, default: null } },
  }
  it.each<[string, object, object?]>([
    ['no inputSchema', { name: 'odd' }],
    ['an inputSchema of null', odd(null)],
    ['an empty inputSchema', odd({})],
    ['a description of null', { ...FIND, name: 'odd', description: null, title: null }],
    ['an array as outputSchema', { ...FIND, name: 'odd', outputSchema: [] }],
    [
      'wrong annotations and icons',
      { ...FIND, name: 'odd', annotations: 'none', icons: { src: 1 }, _meta: null },
    ],
    ['anyOf without a type', odd({ anyOf }), { anyOf }],
    ['keywords that are null', odd(nulls), { properties: { a: { type: 'string', default: null } } }],
    [
      'nullable of OpenAPI 3.0',
      odd({ properties: { a: { type: 'string', nullable: true } } }),
      { properties: { a: { type: ['string', 'null'], nullable: true } } },
    ],
  ])('keeps a tool with %s', async (_, tool, keywords = {}) => {
    const inputSchema = { type: 'object', ...keywords }
    const server = await serveOdd({ 'tools/list': { tools: [tool, FIND], nextCursor: null } })
    const tools = await server.open()
    expect(tools.warnings).toEqual([])
    expect(tools.declarations).toEqual([
      { name: 'crm_odd', description: 'odd', inputSchema },
      { name: 'crm_find', description: 'find', inputSchema: { type: 'object' } },
    ])
  })

  it.each([
    ['has no name', { inputSchema: {} }, 'entry 1 has no name'],
    ['has a name of another type', { name: 7 }, 'entry 1 has no name'],
    ['is null', null, 'entry 1 has no name'],
    ['is a text', 'odd', 'entry 1 has no name'],
    ['takes an array', odd({ type: 'array' }), 'the inputSchema of odd is of type "array"'],
    ['has a schema that is an array', odd([]), 'the inputSchema of odd is not an object'],
  ])('leaves out a tool that %s, and says so', async (_, tool, problem) => {
    const server = await serveOdd({ 'tools/list': { tools: [tool, FIND] } })
    const tools = await server.open()
    expect(namesOf(tools)).toEqual(['crm_find'])
    expect(tools.warnings).toEqual([`McpToolsOmitted: crm: ${problem}`])
  })

  const pages: [string, (page: number) => object, number, RegExp | null][] = [
    ['has more than 20 pages', (page) => ({ tools: [], nextCursor: `${page}` }), 20, /more than 20 pages/],
    ['repeats a cursor', () => ({ tools: [], nextCursor: 'again' }), 2, /page 2 repeats a cursor/],
    [
      'has a page without tools',
      (page) => ({ ...(page < 3 && { nextCursor: `${page}` }) }),
      3,
      /is not an array/,
    ],
    ['ends with an empty cursor', (page) => ({ tools: [], nextCursor: page === 1 ? '1' : null }), 2, null],
  ]
  it.each(pages)('keeps the tools of one that %s', async (_, page, requests, warning) => {
    let count = 0
    const server = await serveOdd({
      'tools/list': (response, { id }) => {
        count++
        const result = count === 1 ? { ...page(1), tools: [FIND] } : page(count)
        return json(response, { jsonrpc: '2.0', id, result })
      },
    })
    const tools = await server.open()
    expect(namesOf(tools)).toEqual(['crm_find'])
    expect(count).toBe(requests)
    expect(tools.warnings).toEqual(warning ? [expect.stringMatching(warning)] : [])
  })

  it('keeps the tools before a page that fails', async () => {
    const server = await serveOdd({
      'tools/list': (response, { id, params }) =>
        params?.cursor
          ? json(response, { jsonrpc: '2.0', id, error: { code: 'E', message: null } })
          : json(response, { jsonrpc: '2.0', id, result: { tools: [FIND], nextCursor: '2' } }),
    })
    const tools = await server.open()
    expect(namesOf(tools)).toEqual(['crm_find'])
    expect(tools.warnings).toEqual([expect.stringContaining('page 2 of the list failed')])
  })

  it.each([
    ['no version', { ...INITIALIZED, serverInfo: { name: 'crm' } }],
    ['no capabilities', { ...INITIALIZED, capabilities: {} }],
    ['nothing but a revision', { protocolVersion: '2025-06-18', instructions: null, _meta: null }],
    ['capabilities that are null', { ...INITIALIZED, capabilities: { tools: null, logging: null } }],
  ])('is read from a server that introduces itself with %s', async (_, initialize) => {
    const server = await serveOdd({ initialize })
    const tools = await server.open()
    expect(namesOf(tools)).toEqual(['crm_find'])
    expect(tools.warnings).toEqual([])
  })

  it('warns of a server that is not reachable', async () => {
    const server = await serveOdd({ initialize: (response) => response.destroy() })
    const tools = await server.open()
    expect(tools.warnings).toEqual(['McpServerUnavailable: crm'])
  })
})

describe('a result', () => {
  const uri = 'https://crm.test/1'
  const results: [string, object, unknown][] = [
    ['text without the structured content of its schema', { content: [text('found')] }, 'found'],
    ['structured content alone', { structuredContent: { n: 1 } }, { n: 1 }],
    [
      'structured content that its text repeats',
      { content: [text('{ "n": 1 }')], structuredContent: { n: 1 } },
      { n: 1 },
    ],
    [
      'text beside structured content',
      { content: [text('Two are new.')], structuredContent: { n: 1 } },
      { content: 'Two are new.', structuredContent: { n: 1 } },
    ],
    ['structured content that is an array', { content: [], structuredContent: [1] }, [1]],
    [
      'known blocks beside an unknown one and null',
      { content: [text('a'), null, { type: 'hologram', points: [] }, text('b')] },
      'a\n[Content of type "hologram" omitted.]\nb',
    ],
    [
      'a link with what describes it',
      { content: [{ type: 'resource_link', uri, name: 'c-1', title: 'Ada', description: 'A customer.' }] },
      `Ada\nc-1\nA customer.\n${uri}`,
    ],
    ['a link without more', { content: [{ type: 'resource_link', uri, name: null }] }, uri],
    ...['text/csv', 'application/json', 'application/ld+json; charset=utf-8', 'application/xml'].map(
      (mimeType): [string, object, unknown] => [
        `a blob of type ${mimeType} as text`,
        {
          content: [
            { type: 'resource', resource: { uri, mimeType, blob: Buffer.from('ä,1').toString('base64') } },
          ],
        },
        'ä,1',
      ],
    ),
    ['an empty content', { content: null }, ''],
    ['numbers as they were written', { content: [text('7615917337495251231')] }, '7615917337495251231'],
  ]
  it.each(results)('has %s', async (_, result, value) => {
    const tool = { ...FIND, outputSchema: { type: 'object', required: ['n'] } }
    const answers = { 'tools/list': { tools: [tool] }, 'tools/call': result }
    expect(await callFind(answers)).toEqual({ ok: true, value })
  })

  const failures: [string, object, string][] = [
    ['text', { isError: true, content: [text('no')] }, 'no'],
    [
      'structured content',
      { isError: true, content: [], structuredContent: { code: 'E7' } },
      '{"code":"E7"}',
    ],
    ['both', { isError: true, content: [text('no')], structuredContent: { code: 7 } }, 'no\n{"code":7}'],
    ['nothing', { isError: true }, 'The tool failed without an error message.'],
  ]
  it.each(failures)('that is an error has its %s', async (_, result, error) => {
    expect(await callFind({ 'tools/call': result })).toEqual({ ok: false, error })
  })

  const junk =
    'data:\n\n: comment\n\nevent: ping\ndata: {}\n\ndata: null\n\ndata: [null]\n\ndata: {"jsonrpc":"1.0"}\n\ndata: {nope\n\n'
  it.each([
    ['between junk', (result: string) => `${junk}data: ${result}\n\n${junk}`],
    ['in several lines', (result: string) => `data: {\ndata: ${result.slice(1)}\n\n`],
    [
      'after a notification',
      (result: string) => `data: {"method":"notifications/message","params":{}}\n\ndata: ${result}\n\n`,
    ],
    ['without an empty line at the end', (result: string) => `data: ${result}`],
    ['with CRLF', (result: string) => `event: message\r\ndata: ${result}\r\n\r\n`],
  ])('is found %s of an event stream', async (_, write) => {
    const resultOf = (id: unknown) => ({ id: `${id}`, result: { content: [text('ok')] }, error: null })
    const answer: Answer = (response, { id }) => events(response, write(JSON.stringify(resultOf(id))))
    expect(await callFind({ 'tools/call': answer })).toEqual({ ok: true, value: 'ok' })
  })

  it('keeps the digits of numbers', async () => {
    const raw = '{"content":[],"structuredContent":{"orderId":7615917337495251231}}'
    const result = await callFind({
      'tools/call': (response, { id }) => events(response, `data: {"id":${id},"result":${raw}}\n\n`),
    })
    expect(JSON.stringify(result)).toBe('{"ok":true,"value":{"orderId":7615917337495251231}}')
  })

  it('is an error if the response has none, at once', async () => {
    expect(await callFind({ 'tools/call': (response) => json(response, [null, { ok: true }]) })).toEqual({
      ok: false,
      error: expect.stringContaining('sent no response of JSON-RPC'),
    })
  })
})

it('lets the server validate inputs if its schema does not compile', async () => {
  const inputSchema = { type: 'object', properties: { a: { $ref: '#/nowhere' }, b: { pattern: '(' } } }
  const server = await serveOdd({
    'tools/list': { tools: [{ name: 'odd', inputSchema }] },
    'tools/call': { content: [text('ok')] },
  })
  expect(await call(await server.open(), 'crm_odd', { a: 1, b: 'x' })).toEqual({ ok: true, value: 'ok' })
})

describe('a session', () => {
  /** A server that forgets its sessions whenever `forget` is called. */
  async function serveSessions(refuse: (response: ServerResponse) => unknown) {
    let session = 1
    const state = { isForgetful: false }
    const withSession =
      (answer: object): Answer =>
      (response, { id, method }, { headers }) => {
        if (method === 'initialize') response.setHeader('mcp-session-id', `s-${session}`)
        else if (state.isForgetful || headers['mcp-session-id'] !== `s-${session}`) return refuse(response)
        return json(response, { jsonrpc: '2.0', id, result: answer })
      }
    const server = await serveOdd({
      initialize: withSession(INITIALIZED),
      'tools/list': withSession({ tools: [FIND] }),
      'tools/call': withSession({ content: [text('ok')] }),
    })
    return Object.assign(state, server, { forget: () => session++ })
  }

  it.each<[string, (response: ServerResponse) => unknown]>([
    ['404', (response) => response.writeHead(404).end()],
    [
      '400 and a reason',
      (response) => json(response, { error: { message: 'No valid session ID provided' } }, 400),
    ],
  ])('that the server answers with %s is begun once more, for parallel calls together', async (_, refuse) => {
    const server = await serveSessions(refuse)
    const tools = await server.open()
    for (let round = 0; round < 2; round++) {
      server.seen.length = 0
      server.forget()
      const results = await Promise.all([1, 2, 3].map(() => call(tools, 'crm_find', {})))
      expect(results).toEqual(Array(3).fill({ ok: true, value: 'ok' }))
      expect(server.seen.filter((method) => method === 'initialize')).toHaveLength(1)
      expect(server.seen.filter((method) => method === 'tools/call')).toHaveLength(6)
    }
  })

  it('is terminated if the server does not list its tools', async () => {
    const server = await serveSessions((response) => response.writeHead(500).end())
    server.isForgetful = true
    const tools = await server.open()
    expect(namesOf(tools)).toEqual(['crm'])
    expect(server.received.at(-1)).toMatchObject({ method: 'DELETE', headers: { 'mcp-session-id': 's-1' } })
  })

  it('that is refused again is not begun a third time', async () => {
    const server = await serveSessions((response) => response.writeHead(404).end())
    const tools = await server.open()
    server.seen.length = 0
    server.isForgetful = true
    expect(await call(tools, 'crm_find', {})).toMatchObject({ ok: false })
    expect(server.seen.filter((method) => method === 'tools/call')).toHaveLength(2)
  })
})

describe('a stream that the server closes before its result (SEP-1699)', () => {
  const priming = 'id: e-1\nretry: 1\ndata:\n\n'
  it('is resumed with the id of its last event', async () => {
    let rpcId: unknown
    const lastIds: unknown[] = []
    const result = await callFind({
      'tools/call': (response, { id }) => {
        rpcId = id
        return events(response, priming)
      },
      GET: (response, _, { headers }) => {
        lastIds.push(headers['last-event-id'])
        if (lastIds.length === 1) return events(response, 'id: e-2\ndata:\n\n')
        const result = { content: [text('late')] }
        return events(response, `data: ${JSON.stringify({ jsonrpc: '2.0', id: rpcId, result })}\n\n`)
      },
    })
    expect(result).toEqual({ ok: true, value: 'late' })
    expect(lastIds).toEqual(['e-1', 'e-2'])
  })

  it('is an error if it cannot be resumed', async () => {
    const result = await callFind({
      'tools/call': (response) => events(response, priming),
      GET: (response) => response.writeHead(405).end(),
    })
    expect(result).toEqual({
      ok: false,
      error: expect.stringContaining('without a result. Resuming it failed with HTTP 405.'),
    })
  })
})
