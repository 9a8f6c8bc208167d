import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { AgentError } from '../../../clients/typescript/src/index.ts'
import {
  type Answer,
  cut,
  drop,
  hang,
  html,
  json,
  problem,
  SOON,
  scriptedService,
  truncate,
} from './scripted-service.ts'

const INPUT = { seconds: 1 }
const OUTPUT = { waitedSeconds: 1 }
const ID = '01a2003a-d1f2-7169-a695-5ea4428d9251'
const success = { id: ID, status: 'SUCCESS', output: OUTPUT, error: null }

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
  it.each<[string, Answer]>([
    ['a connection that breaks before the response', drop],
    ['a connection that breaks in the body', cut],
    ['a body that ends too early', truncate],
    ...[408, 429, 502, 503, 504].map((status): [string, Answer] => [`${status} of a proxy`, html(status)]),
    ['429 TooManyRequests', problem(429, 'TooManyRequests', {}, { 'Retry-After': '0' })],
    ['503 Unavailable', problem(503, 'Unavailable', {}, { 'Retry-After': '0' })],
    ['500 InternalError', problem(500, 'InternalError')],
  ])('sends the same request with the same key after %s', async (_, failure) => {
    const { client, requests } = await scriptedService([failure, failure, json(200, OUTPUT)])
    expect(await client.run('wait', INPUT, { tenantId: 'a b', useCache: false })).toEqual(OUTPUT)
    expect(requests).toHaveLength(3)
    for (const { method, path, headers, body } of requests) {
      expect([method, path]).toEqual([
        'POST',
        '/v1/agents/wait/executions?tenantId=a+b&useCache=false&execMode=sync',
      ])
      expect(headers).toMatchObject({ authorization: 'Bearer aes_test', 'content-type': 'application/json' })
      expect(headers['idempotency-key']).toMatch(/^[0-9a-f]{32}$/)
      expect(headers['idempotency-key']).toBe(requests[0]?.headers['idempotency-key'])
      expect(JSON.parse(body)).toEqual(INPUT)
    }
  })

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

  it.each([
    ['504 ExecutionStillRunning', problem(504, 'ExecutionStillRunning', { executionId: ID })],
    ['409 ExecutionInProgress', problem(409, 'ExecutionInProgress', { executionId: ID })],
  ])('waits for the execution after %s', async (_, running) => {
    const answers = [running, json(200, { id: ID, status: 'IN_PROGRESS' }, { 'Retry-After': '0' }), drop]
    const { client, requests } = await scriptedService([...answers, json(200, success)])
    expect(await client.run('wait', INPUT)).toEqual(OUTPUT)
    expect(requests.slice(1).map(({ method, path, headers }) => [method, path, headers.prefer])).toEqual(
      ['wait=2', undefined, undefined].map((prefer) => ['GET', `/v1/agent_executions/${ID}`, prefer]),
    )
  })

  it('rejects with the error of the execution, whether it failed within the request or after it', async () => {
    const error = { code: 'AgentFailed', message: 'it broke' }
    const failed = problem(500, 'ExecutionFailed', {
      detail: 'The execution ended in ERROR: it broke',
      executionId: ID,
      error,
    })
    const running = problem(504, 'ExecutionStillRunning', { executionId: ID })
    const record = json(200, { id: ID, status: 'ERROR', output: null, error })
    const { client, requests } = await scriptedService([failed, running, record])
    for (const expectedRequests of [1, 3]) {
      const thrown = await errorOf(client.run('wait', INPUT))
      expect(thrown).toMatchObject({
        code: 'ExecutionFailed',
        status: 500,
        executionId: ID,
        error,
        message: 'The execution ended in ERROR: it broke',
      })
      expect(requests).toHaveLength(expectedRequests)
    }
  })

  it.each([
    [problem(422, 'InputSchemaMismatch', { errors: [{ path: '/a', message: 'x' }] }), 'InputSchemaMismatch'],
    [problem(404, 'AgentNotFound'), 'AgentNotFound'],
    [problem(422, 'IdempotencyKeyReused'), 'IdempotencyKeyReused'],
    [problem(500, 'SomethingNew'), 'SomethingNew'],
    [html(500), 'UnexpectedResponse'],
    [html(404), 'UnexpectedResponse'],
    [html(200), 'UnexpectedResponse'],
  ])('does not repeat what cannot succeed: %#', async (answer, code) => {
    const { client, requests } = await scriptedService([answer])
    expect(await errorOf(client.run('wait', INPUT))).toMatchObject({ code, name: code })
    expect(requests).toHaveLength(1)
  })

  it.each([
    ['null', 'UnexpectedResponse'],
    ['5', 'UnexpectedResponse'],
    ['', 'ConnectionFailed'],
    ['{"id": "a"', 'ConnectionFailed'],
  ])('rejects with an error of its own when a response is %j', async (text, code) => {
    const answer: Answer = (response) => void response.end(text)
    const { client } = await scriptedService(Array(8).fill(answer), { maxRetries: 1 })
    for (const call of [
      () => client.run('wait', INPUT),
      () => client.start('wait', INPUT),
      () => client.wait(ID),
      () => client.agents().next(),
    ])
      expect(await errorOf(call())).toMatchObject({ code, name: code })
  })

  it('rejects with an error of its own when a list is an object', async () => {
    const { client } = await scriptedService([json(200, {})])
    expect(await errorOf(client.agents().next())).toMatchObject({ code: 'UnexpectedResponse' })
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

  it('fails at once with the error of the service if it is after the deadline', async () => {
    const busy = problem(429, 'TooManyRequests', {}, { 'Retry-After': '60' })
    const { client, requests } = await scriptedService([busy])
    const error = await errorOf(client.run('wait', INPUT, { timeoutMs: 20_000 }))
    expect(error).toMatchObject({ code: 'TooManyRequests', status: 429, retryAfterMs: 60_000 })
    expect(requests).toHaveLength(1)
  })

  it.each(['maxCostUsd.day', 'maxCostUsd.month'])('is not waited for at the limit %s', async (limit) => {
    const usedUp = problem(429, 'LimitExceeded', { limit }, { 'Retry-After': '2592000' })
    const { client, requests } = await scriptedService([usedUp])
    const events = client.stream('wait', INPUT)[Symbol.asyncIterator]()
    expect(await errorOf(events.next())).toMatchObject({ code: 'LimitExceeded', limit })
    expect(requests).toHaveLength(1)
  })

  it('does not count as a failure', async () => {
    const busy = problem(429, 'TooManyRequests', {}, { 'Retry-After': '0' })
    const full = problem(429, 'LimitExceeded', { limit: 'maxOpenExecutions' }, { 'Retry-After': '0' })
    const answers = [busy, full, busy, json(200, OUTPUT)]
    const { client } = await scriptedService(answers, { maxRetries: 1 })
    expect(await client.run('wait', INPUT)).toEqual(OUTPUT)
  })
})

describe('maxRetries', () => {
  it('limits the failures in a row', async () => {
    const { client, requests } = await scriptedService([], { maxRetries: 3 })
    const error = await errorOf(client.me())
    expect(error).toMatchObject({ code: 'ConnectionFailed', status: 0 })
    expect(error.cause).toBeInstanceOf(Error)
    expect(requests).toHaveLength(4)
  })
})

describe('wait', () => {
  it('lets the service wait where the deadline leaves no time for a pause', async () => {
    const running = json(200, { id: ID, status: 'IN_PROGRESS' }, { 'Retry-After': '60' })
    const { client, requests } = await scriptedService([running, json(200, success)], { timeoutMs: 20_000 })
    expect(await client.wait(ID)).toEqual(success)
    expect(requests.map(({ headers }) => headers.prefer)).toEqual([
      'wait=2',
      expect.stringMatching(/^wait=\d\d$/),
    ])
  })
})

describe('the deadline', () => {
  it('ends a wait, and tells for what', async () => {
    const running = json(200, { id: ID, status: 'IN_PROGRESS' }, { 'Retry-After': '1' })
    const { client } = await scriptedService([running, running], { timeoutMs: 300 })
    const error = await errorOf(client.wait(ID))
    expect(error).toMatchObject({ code: 'ClientTimeout', executionId: ID })
  })

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

describe('cancelOnAbort', () => {
  it('finds the execution of a run by its key, and works for the deadline too', async () => {
    const record = json(202, { id: ID, status: 'IN_PROGRESS' })
    const { client, requests } = await scriptedService([hang, record, json(200, { id: ID, status: 'ERROR' })])
    const error = await errorOf(client.run('wait', INPUT, { timeoutMs: 300, cancelOnAbort: true }))
    expect(error.code).toBe('ClientTimeout')
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /v1/agents/wait/executions?execMode=sync',
      'POST /v1/agents/wait/executions?execMode=async',
      `POST /v1/agent_executions/${ID}/cancel`,
    ])
    expect(requests[1]?.headers['idempotency-key']).toBe(requests[0]?.headers['idempotency-key'])
  })
})

describe('delete', () => {
  it('succeeds if the first response was lost and the execution is gone', async () => {
    const { client, requests } = await scriptedService([drop, problem(404, 'ExecutionNotFound')])
    await client.delete(ID)
    expect(requests.map(({ method }) => method)).toEqual(['DELETE', 'DELETE'])
    const unknown = await scriptedService([problem(404, 'ExecutionNotFound')])
    expect((await errorOf(unknown.client.delete(ID))).code).toBe('ExecutionNotFound')
  })
})
