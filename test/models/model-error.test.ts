import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { ModelError, type ModelRequest } from '../../lib/core/model.ts'
import { PROVIDERS, type Provider } from '../../lib/models/model-name.ts'
import { openModel } from '../../lib/models/open-model.ts'
import { KEY } from '../support/scripted-model/start-scripted-model.ts'
import type { Turn } from '../support/scripted-model/turn.ts'
import { openScripted, requestOf, useScriptedModel } from './support.ts'

const scripted = useScriptedModel()

const SECRET_TEXT = 'My account number is 4711-0815.'

async function faultOf(
  format: Provider,
  turn: Turn,
  overrides: Partial<ModelRequest> = {},
): Promise<ModelError> {
  const { model, id } = await openScripted(scripted.server, format, [turn])
  const messages = [model.userMessage(SECRET_TEXT)]
  const error = await model
    .respond(requestOf(model, { messages, ...overrides }))
    .catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ModelError)
  scripted.server.assertDone(id)
  const fault = error as ModelError
  expect(`${fault.stack} ${JSON.stringify(fault)} ${fault.cause}`).not.toContain(KEY)
  expect(`${fault.stack} ${JSON.stringify(fault)} ${fault.cause}`).not.toContain(SECRET_TEXT)
  expect(fault.message).toContain(format)
  return fault
}

const inAnHour = new Date(Date.now() + 3_600_000).toUTCString()

const TRANSIENT: [string, Turn, RegExp][] = [
  ['429', { status: 429, code: 'rate_limited' }, /answered 429 rate_limited: Scripted fault\./],
  ['408', { status: 408 }, /answered 408/],
  ['409', { status: 409 }, /answered 409/],
  ['500', { status: 500 }, /answered 500/],
  ['503', { status: 503 }, /answered 503/],
  ['529', { status: 529, code: 'overloaded_error' }, /answered 529 overloaded_error/],
  ['502 of a proxy', { status: 502, body: '<html>Bad Gateway</html>' }, /answered 502/],
  [
    'HTML',
    { garbage: '<html></html>', contentType: 'text/html' },
    /something else than its JSON \(text\/html\)/,
  ],
  ['cut JSON', { garbage: '{"id": "x", ' }, /something else than its JSON/],
  ['nothing', { garbage: '' }, /something else than its JSON/],
  ['a list', { garbage: '[]' }, /something else than its JSON/],
  ['no connection', { drop: 'before' }, /could not be reached \(UND_ERR_SOCKET\)/],
  ['half an answer', { drop: 'middle' }, /broke off its answer \(UND_ERR_SOCKET\)/],
]

const PERMANENT: [string, Turn, RegExp][] = [400, 401, 402, 403, 404, 405, 413, 422].map((status) => [
  String(status),
  { status, message: 'The model is not for you.', code: 'not_for_you' },
  new RegExp(`answered ${status} not_for_you: The model is not for you\\.`),
])

describe.each(PROVIDERS)('a fault of %s', (format) => {
  it.each(TRANSIENT)('passes: %s', async (_, turn, message) => {
    const fault = await faultOf(format, turn)
    expect(fault).toMatchObject({ isTransient: true, retryAfterMs: null })
    expect(fault.message).toMatch(message)
  })

  it.each(PERMANENT)('does not pass: %s', async (_, turn, message) => {
    const fault = await faultOf(format, turn)
    expect(fault).toMatchObject({ isTransient: false, retryAfterMs: null })
    expect(fault.message).toMatch(message)
  })

  it('says how long to wait', async () => {
    const headers = { 'retry-after': '7' }
    expect(await faultOf(format, { status: 429, headers })).toMatchObject({
      isTransient: true,
      retryAfterMs: 7_000,
    })
    const precise = { ...headers, 'retry-after-ms': '1234' }
    expect(await faultOf(format, { status: 503, headers: precise })).toMatchObject({ retryAfterMs: 1_234 })
    const dated = await faultOf(format, { status: 429, headers: { 'retry-after': inAnHour } })
    expect(dated.retryAfterMs).toBeGreaterThan(3_500_000)
    expect(dated.retryAfterMs).toBeLessThanOrEqual(3_600_000)
    expect(await faultOf(format, { status: 400, headers })).toMatchObject({ retryAfterMs: null })
  })

  it('blacks the key out of what the provider says', async () => {
    const fault = await faultOf(format, { status: 401, message: `Incorrect API key provided: ${KEY}.` })
    expect(fault.message).toContain('Incorrect API key provided: [secret].')
  })

  it.each([
    ['whole', `Cannot take "${SECRET_TEXT}".`],
    ['in part', 'Cannot take "…number is 4711-08…".'],
    ['of the instructions', 'Cannot take "Be brief." as a system message.'],
  ])('leaves out a message that quotes the request: %s', async (_, message) => {
    const fault = await faultOf(format, { status: 400, message, code: 'bad_prompt' })
    expect(fault.message).toMatch(/answered 400 bad_prompt; its message is left out/)
  })

  it('is told of a history that no provider takes', async () => {
    const { model, id } = await openScripted(scripted.server, format, [{ text: 'Never said.' }])
    const messages = [{ role: 'nobody', content: SECRET_TEXT }]
    const fault = await model.respond(requestOf(model, { messages })).catch((error: unknown) => error)
    expect(fault).toMatchObject({ name: 'ModelError', isTransient: false })
    expect((fault as Error).message).not.toContain(SECRET_TEXT)
    expect(scripted.server.requests(id)).toHaveLength(0)
  })

  it('passes: nobody listens at the address', async () => {
    const closed = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => closed.once('listening', resolve))
    const { port } = closed.address() as AddressInfo
    await new Promise((resolve) => closed.close(resolve))
    const environment = Object.fromEntries(
      Object.entries(scripted.server.environmentFor(format)).map(([name, value]) => [
        name,
        name.endsWith('_URL') ? `http://127.0.0.1:${port}/v1` : value,
      ]),
    )
    const model = await openModel(`${format}/nobody`, environment)
    await expect(model.respond(requestOf(model))).rejects.toMatchObject({
      isTransient: true,
      message: `${format} could not be reached (ECONNREFUSED).`,
    })
  })

  it('is none when the caller aborts: the reason is thrown', async () => {
    const { model, requests } = await openScripted(scripted.server, format, [
      { text: 'Late.', delayMs: 20_000 },
    ])
    const controller = new AbortController()
    const reason = new Error('The lease is lost.')
    const responding = model.respond(requestOf(model, { signal: controller.signal }))
    const watching = setInterval(() => requests().length > 0 && controller.abort(reason), 5)
    await expect(responding).rejects.toBe(reason)
    clearInterval(watching)
    await expect(model.respond(requestOf(model, { signal: controller.signal }))).rejects.toBe(reason)
    expect(requests()).toHaveLength(1)
  })

  it('is none when the time of the caller is up', async () => {
    const { model } = await openScripted(scripted.server, format, [{ text: 'Late.', delayMs: 20_000 }])
    const responding = model.respond(requestOf(model, { signal: AbortSignal.timeout(50) }))
    await expect(responding).rejects.toMatchObject({ name: 'TimeoutError' })
  })
})

describe('a fault of openai', () => {
  it('does not pass when the account is out of money', async () => {
    const fault = await faultOf('openai', {
      status: 429,
      code: 'insufficient_quota',
      headers: { 'retry-after': '7' },
    })
    expect(fault).toMatchObject({ isTransient: false, retryAfterMs: null })
  })

  it.each([
    [{ code: 'server_error' }, true, 'answered 200 server_error'],
    [{ code: 'server_error', type: 'server_error' }, true, 'answered 400 server_error'],
    [{ code: 'invalid_prompt' }, false, 'answered 200 invalid_prompt'],
    [{ code: 'invalid_prompt', type: 'invalid_request_error' }, false, 'answered 400 invalid_prompt'],
  ])('in a response of status 200 counts as what it says: %j', async (error, isTransient, words) => {
    const garbage = JSON.stringify({ id: 'r', output: [], error: { ...error, message: 'It failed.' } })
    const fault = await faultOf('openai', { garbage })
    expect(fault).toMatchObject({ isTransient, message: `openai ${words}: It failed.` })
  })
})

describe('a fault of openai-compatible', () => {
  it('passes: an answer without a choice', async () => {
    const fault = await faultOf('openai-compatible', { garbage: '{"choices": []}' })
    expect(fault).toMatchObject({
      isTransient: true,
      message: expect.stringContaining('something else than its JSON'),
    })
  })

  it('keeps its words when the key is a stopgap', async () => {
    const { server } = scripted
    server.script('stopgap', [{ status: 404, message: 'No model of ollama.' }])
    const environment = { ...server.environmentFor('openai-compatible'), OPENAI_COMPATIBLE_API_KEY: 'ollama' }
    const model = await openModel('openai-compatible/stopgap', environment)
    await expect(model.respond(requestOf(model))).rejects.toThrow('No model of ollama.')
  })

  it.each([
    [502, true],
    [400, false],
  ])('in a response of status 200 counts as the status that it says: %i', async (code, isTransient) => {
    const garbage = JSON.stringify({ error: { code, message: 'It failed.' } })
    const fault = await faultOf('openai-compatible', { garbage })
    expect(fault).toMatchObject({ isTransient, message: `openai-compatible answered ${code}: It failed.` })
  })
})
