import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Client } from '../../../clients/typescript/src/index.ts'
import { AgentError } from '../../../clients/typescript/src/index.ts'
import { collect } from '../../support/data/collect.ts'
import { type Answer, events, hang, html, json, problem, SOON, scriptedService } from './scripted-service.ts'

const INPUT = { seconds: 1 }
const OUTPUT = { waitedSeconds: 1 }

// No backoff.
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0))
afterEach(() => void vi.restoreAllMocks())

/** Skips pauses of a length, and returns how long they would have been. */
function skipPauses(isPause: (ms: number) => boolean): number[] {
  const { setTimeout: original } = globalThis
  const pauses: number[] = []
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((run: () => void, ms = 0) => {
    if (!isPause(ms)) return original(run, ms)
    pauses.push(ms)
    return original(run)
  }) as typeof setTimeout)
  return pauses
}

const errorOf = async (call: Promise<unknown>): Promise<AgentError> => {
  const error = await call.catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(AgentError)
  return error as AgentError
}

describe('run', () => {
  it('uses a new key for each call, and the key of the caller if there is one', async () => {
    const answers = Array.from({ length: 3 }, () => json(200, OUTPUT))
    const { client, requests } = await scriptedService(answers)
    await client.run('wait', INPUT)
    await client.run('wait', INPUT)
    await client.run('wait', INPUT, { idempotencyKey: 'order-7012' })
    const [first, second, third] = requests.map(({ headers }) => headers['idempotency-key'])
    expect(first).not.toBe(second)
    expect(third).toBe('order-7012')
  })

  it('does not repeat a request that cannot be sent', async () => {
    const { client, requests, baseUrl } = await scriptedService([], { fetch: () => Promise.reject('sent') })
    await expect(client.run('wait', INPUT, { idempotencyKey: 'a\nb' })).rejects.toThrow(TypeError)
    await expect(client.run('wait', { a: 1n })).rejects.toThrow('BigInt')
    expect(requests).toHaveLength(0)
    expect(baseUrl).toMatch(/^http/)
  })
})

describe('Retry-After', () => {
  it.each([
    ['seconds', '7', Date.now()],
    ['a date', new Date(Date.now() + 8_000).toUTCString(), Date.now()],
    ['a date on the clock of the server', new Date(1_007_000).toUTCString(), 1_000_000],
    ['months', '9999999', Date.now()],
  ])('is respected as %s', async (what, value, date) => {
    const headers = { 'Retry-After': value, Date: new Date(date).toUTCString() }
    const { client, requests } = await scriptedService([html(503, headers), json(200, OUTPUT)])
    const isLong = what === 'months'
    const pauses = skipPauses((ms) => (isLong ? ms > 1_000_000 : ms > 5_000 && ms < 9_000))
    await client.run('wait', INPUT, { timeoutMs: isLong ? Number.POSITIVE_INFINITY : 60_000 })
    // A timer cannot be longer.
    if (isLong) expect(pauses[0]).toBe(2 ** 31 - 1)
    else expect(pauses).toHaveLength(1)
    expect(requests).toHaveLength(2)
  })
})

describe('the deadline', () => {
  it('has the last failure as its cause', async () => {
    const { client } = await scriptedService([html(502), hang], { timeoutMs: 500 })
    const error = await errorOf(client.me())
    expect(error).toMatchObject({ code: 'ClientTimeout', cause: { status: 502 } })
  })
})

describe('a signal', () => {
  it('ends a request with its reason, and closes the connection', async () => {
    const { client, requests } = await scriptedService([hang])
    const controller = new AbortController()
    const running = client.run('wait', INPUT, { signal: controller.signal })
    await expect.poll(() => requests.length, SOON).toBe(1)
    controller.abort('enough')
    await expect(running).rejects.toBe('enough')
    await requests[0]?.closed
  })

  it('that was aborted before prevents the request', async () => {
    const { client, requests } = await scriptedService([json(200, OUTPUT)])
    const signal = AbortSignal.abort('before')
    await expect(client.run('wait', INPUT, { signal, cancelOnAbort: true })).rejects.toBe('before')
    expect(requests).toHaveLength(0)
  })

  it('ends a pause between retries', async () => {
    const busy = problem(429, 'TooManyRequests', {}, { 'Retry-After': '60' })
    const { client, requests } = await scriptedService([busy])
    const controller = new AbortController()
    const running = client.me({ signal: controller.signal })
    await expect.poll(() => requests.length, SOON).toBe(1)
    controller.abort()
    await expect(running).rejects.toMatchObject({ name: 'AbortError' })
  })
})

const ID = '01a2003a-d1f2-7169-a695-5ea4428d9251'
const HEADERS = { 'X-Execution-Id': ID }

const block = (event: string, data: unknown) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
const status = (name: string) => block('status', { id: ID, status: name })
const step = (number: number) => `id: ${number}\n${block('step', { number, text: 'é' })}`
const done = block('done', { id: ID, status: 'SUCCESS', output: { text: 'x' } })

const stream = (client: Client) => client.stream('echo', { text: 'x' })

describe('stream', () => {
  it('decodes characters that arrive in parts', async () => {
    const bytes = Buffer.from(step(1))
    const middle = bytes.indexOf(Buffer.from('é')) + 1
    const answer: Answer = (response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      response.write(bytes.subarray(0, middle), () =>
        setTimeout(() => response.end(Buffer.concat([bytes.subarray(middle), Buffer.from(done)])), 20),
      )
    }
    const { client } = await scriptedService([answer])
    const all = await collect(stream(client))
    expect(all[0]?.data).toEqual({ number: 1, text: 'é' })
  })

  it('closes the connection when the reader leaves the loop', async () => {
    const { client, requests } = await scriptedService([events([status('IN_PROGRESS')], 'stay')])
    for await (const _ of stream(client)) break
    await requests[0]?.closed
  })

  it('ends with its signal, and cancels the execution if it should', async () => {
    const cancelled = json(200, { id: ID, status: 'ERROR' })
    const answers = [events([status('IN_PROGRESS')], 'stay', HEADERS), cancelled]
    const { client, requests } = await scriptedService(answers)
    const controller = new AbortController()
    const options = { signal: controller.signal, cancelOnAbort: true }
    const read = async () => {
      for await (const _ of client.stream('echo', { text: 'x' }, options)) controller.abort('enough')
    }
    await expect(read()).rejects.toBe('enough')
    expect(requests[1]).toMatchObject({ method: 'POST', path: `/v1/agent_executions/${ID}/cancel` })
    await requests[0]?.closed
  })
})
