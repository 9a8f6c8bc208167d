import { getEventListeners, once } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { Unavailable } from '../../lib/core/errors.ts'
import type { ToolResult } from '../../lib/core/model.ts'
import { AttemptStopped } from '../../lib/engine/checkpoints/stop-reason.ts'
import { isRefusedCall } from '../../lib/tools/call-tool.ts'
import type { ToolDeps } from '../../lib/tools/open-tools.ts'
import { serveMcp } from './kinds/mcp-server.ts'
import { serve } from './serve.ts'
import { call, httpTool, openDeclared } from './tools.ts'

const input = { text: { type: 'string' }, limit: { type: 'integer', default: 5 } }
const redact = { name: 'redact', agent: 'redact-pii', timeoutSeconds: 1 }
const describeAgent = async () => ({ description: 'Redacts.', inputSchema: input })

/** A server, and a tool with its tools that wants approval. */
async function serveCrm(options = {}) {
  const server = await serveMcp(options)
  const mcp = { url: server.url, allowedHosts: [server.host] }
  return { server, crm: { name: 'crm', approval: { notByCaller: true }, mcp } }
}

describe('openTools', () => {
  it('declares each tool with the JSON Schema of its input', async () => {
    const described = { ...redact, name: 'described', description: 'Use it first.' }
    const documents = [httpTool('localhost:1', { input }), redact, described]
    const tools = await openDeclared(documents, { describeAgent })
    const inputSchema = { type: 'object', properties: input, required: ['text'], additionalProperties: false }
    expect(tools.declarations).toEqual([
      { name: 'get', description: 'Gets.', inputSchema },
      { name: 'redact', description: 'Redacts.', inputSchema },
      { name: 'described', description: 'Use it first.', inputSchema },
    ])
  })

  it('declares the approval that a document wants with every tool of its server, and with no other', async () => {
    const { crm } = await serveCrm()
    const { declarations } = await openDeclared([crm, { ...httpTool('localhost:1'), name: 'crm_other' }])
    const approval = { notByCaller: true, timeoutSeconds: 604_800 }
    expect(declarations.length).toBeGreaterThan(1)
    expect(declarations.map((declaration) => declaration.approval)).toEqual([
      ...declarations.slice(1).map(() => approval),
      undefined,
    ])
    expect(declarations.at(-1)?.name).toBe('crm_other')
  })

  it('declares the tools of a server as they were stored, without connecting to it', async () => {
    const { server, crm } = await serveCrm()
    const live = await openDeclared([crm, redact], { describeAgent })
    const { served = {} } = live
    const connections = server.seen.length
    const stored = await openDeclared([crm, redact], { describeAgent, served: structuredClone(served) })
    expect(stored.declarations).toEqual(live.declarations)
    expect(stored.served).toEqual(served)
    expect(await call(stored, 'crm_find_customer', { name: 'Ada' })).toMatchObject({ ok: false })
    expect(server.seen).toHaveLength(connections)
  })

  it('closes the opened tools if another tool cannot be opened', async () => {
    const { server, crm } = await serveCrm({ sessions: true })
    const opening = openDeclared([crm, redact], { describeAgent: async () => null })
    await expect(opening).rejects.toMatchObject({
      message: 'Could not open the tool redact. Agent "redact-pii" not found.',
      isTransient: false,
    })
    expect(server.seen.length).toBeGreaterThan(0)
    expect(server.transports.size).toBe(0)
  })

  it('treats an unexpected error as transient, but not as its own that the database does not answer', async () => {
    const openFailing = (error: Error) =>
      openDeclared([redact], { describeAgent: () => Promise.reject(error) })
    await expect(openFailing(new Error('no table'))).rejects.toMatchObject({ isTransient: true })
    const error = new Unavailable(new Error('throttled'))
    await expect(openFailing(error)).rejects.toBe(error)
  })
})

describe('Tools.call', () => {
  const callRedact = async (runAgent: ToolDeps['runAgent']) =>
    call(await openDeclared([redact], { describeAgent, runAgent }), 'redact', { text: 'a' })
  /** Does this after the timeout of the call. */
  const late =
    (end: () => ToolResult): ToolDeps['runAgent'] =>
    async ({ signal }) => {
      await once(signal, 'abort')
      await nextTurn()
      return end()
    }

  it('passes the input with defaults, the idempotency key and a signal to an agent, and leaves no listener', async () => {
    const calls: unknown[] = []
    const runAgent = async (params: object): Promise<ToolResult> => {
      calls.push(params)
      return { ok: true, value: { text: '[EMAIL]' } }
    }
    const tools = await openDeclared([redact], { describeAgent, runAgent })
    const run = new AbortController()
    const result = await call(tools, 'redact', { text: 'a' }, run.signal)
    expect(result).toEqual({ ok: true, value: { text: '[EMAIL]' } })
    expect(getEventListeners(run.signal, 'abort')).toEqual([])
    const idempotencyKey = 'run/1/call-1'
    const signal = expect.any(AbortSignal)
    expect(calls).toEqual([{ slug: 'redact-pii', input: { text: 'a', limit: 5 }, idempotencyKey, signal }])
  })

  const invalid = [{}, { text: 1 }, { text: 'a', limit: 'x' }, { text: 'a', more: 1 }, null, 'a', [], 3]
  it.each(invalid)('rejects the input %j without calling the tool', async (value) => {
    const tools = await openDeclared([redact], { describeAgent })
    const error = expect.stringMatching(
      /^The input does not match the tool's schema\. .*(\/text|\/limit|\/more|must be)/,
    )
    expect(await call(tools, 'redact', value as never)).toEqual({ ok: false, error, isRefused: true })
  })

  it('returns an error for an unknown tool and for a call that could not be parsed', async () => {
    const tools = await openDeclared([redact], { describeAgent })
    const error = 'Unknown tool "rm". Available tools: redact.'
    expect(await call(tools, 'rm', {})).toEqual({ ok: false, error, isRefused: true })
    const unread = { id: '1', name: 'redact', input: { text: 'a' }, error: 'The input is not JSON.' }
    const options = { idempotencyKey: 'k', signal: new AbortController().signal }
    expect(await tools.call(unread, options)).toEqual({ ok: false, error: 'The input is not JSON.' })
  })

  it.each([
    ['Unknown tool "rm". Available tools: redact.', true],
    ["The input does not match the tool's schema. /text is required.", true],
    ["The input does not match the tool's schema.", true],
    ['Unknown tool: rm', false],
    ['Unknown tool "other". Available tools: redact.', false],
    ["The input does not match the tool's schema, says the server.", false],
  ])('tells by a result that is not marked whether a tool got the call: %s', (error, isRefused) => {
    expect(isRefusedCall({ name: 'rm' }, { ok: false, error })).toBe(isRefused)
  })

  it('returns an error if a tool throws', async () => {
    const error = 'The call failed: boom'
    const throwNow = () => {
      throw new Error('boom')
    }
    for (const runAgent of [async () => throwNow(), throwNow])
      expect(await callRedact(runAgent)).toEqual({ ok: false, error })
  })

  it('times out a tool that ignores its signal', async () => {
    const signals: AbortSignal[] = []
    const runAgent = ({ signal }: { signal: AbortSignal }) => {
      signals.push(signal)
      return new Promise<ToolResult>(() => undefined)
    }
    const tools = await openDeclared([redact], { describeAgent, runAgent })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const result = call(tools, 'redact', { text: 'a' })
    await vi.advanceTimersByTimeAsync(60_000)
    expect(await result).toEqual({ ok: false, error: 'The call timed out after 1 s.' })
    expect(signals[0]?.aborted).toBe(true)
  })

  it('throws the errors that are not the failure of a tool, also those after its timeout', async () => {
    const stopped = new AttemptStopped({ kind: 'WorkerShuttingDown' })
    for (const error of [new Unavailable(new Error('throttled')), stopped]) {
      await expect(callRedact(() => Promise.reject(error))).rejects.toBe(error)
      const throwLate = late(() => {
        throw error
      })
      await expect(callRedact(throwLate)).rejects.toBe(error)
    }
  })

  it('returns what a tool returned after its timeout, while it ended what it had begun', async () => {
    const result: ToolResult = { ok: true, value: 'late', executionId: 'x' }
    expect(await callRedact(late(() => result))).toEqual(result)
  })

  it('throws the abort reason before and during a call, and aborts the request', async () => {
    const run = new AbortController()
    const reason = new Error('cancelled')
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    const server = await serve((response) => {
      response.on('close', resolve)
      run.abort(reason)
    })
    const tools = await openDeclared([httpTool(server.host)])
    await expect(call(tools, 'get', {}, run.signal)).rejects.toBe(reason)
    await closed
    await expect(call(tools, 'get', {}, run.signal)).rejects.toBe(reason)
    expect(server.connections).toHaveLength(1)
  })
})
