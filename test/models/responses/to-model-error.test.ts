import { describe, expect, it } from 'vitest'
import { ModelError } from '../../../lib/core/model.ts'
import { openModel } from '../../../lib/models/open-model.ts'
import { type Provider, TRAITS } from '../../../lib/models/providers/providers.ts'
import { parseRetryAfter } from '../../../lib/models/responses/reported-error.ts'
import { KEY, SCRIPTED_PROVIDERS } from '../../support/scripted-model/start-scripted-model.ts'
import type { Turn } from '../../support/scripted-model/turn.ts'
import { freePort } from '../../support/service/port-emulators.ts'
import { openScripted, requestOf, useScriptedModel } from '../support.ts'

const server = await useScriptedModel()

const SECRET_TEXT = 'My account number is 4711-0815.'

async function getError(format: Provider, turn: Turn): Promise<ModelError> {
  const { model, id } = await openScripted(server, format, [turn])
  const messages = [model.userMessage(SECRET_TEXT)]
  const error = await model.respond(requestOf(model, { messages })).catch((thrown: unknown) => thrown)
  if (!(error instanceof ModelError)) throw error
  server.assertDone(id)
  const shown = `${error.stack} ${JSON.stringify(error)} ${error.cause}`
  expect(shown).not.toContain(KEY)
  expect(shown).not.toContain(SECRET_TEXT)
  expect(error.message).toContain(format)
  return error
}

const TRANSIENT: [string, Turn, RegExp][] = [
  ['429', { status: 429, code: 'rate_limited' }, /returned HTTP 429 rate_limited: Scripted fault\./],
  ...[408, 409, 500, 503].map((status): [string, Turn, RegExp] => [
    String(status),
    { status },
    new RegExp(`returned HTTP ${status}`),
  ]),
  ['529', { status: 529, code: 'overloaded_error' }, /returned HTTP 529 overloaded_error/],
  ['502 of a proxy', { status: 502, body: '<html>Bad Gateway</html>' }, /returned HTTP 502/],
  [
    'HTML',
    { garbage: '<html></html>', contentType: 'text/html' },
    /response in an unknown format \(content type text\/html\)/,
  ],
  ['truncated JSON', { garbage: '{"id": "x", ' }, /response in an unknown format/],
  ['an empty body', { garbage: '' }, /response in an unknown format/],
  ['an array', { garbage: '[]' }, /response in an unknown format/],
  ['a connection dropped before the response', { drop: 'before' }, /Could not connect to .* \(ECONNRESET\)/],
  [
    'a connection dropped within the response',
    { cut: { text: 'Cut off.' }, by: 'close' },
    /was lost during the response \(ECONNRESET\)/,
  ],
  [
    'a response that ends early',
    { cut: { text: 'Cut off.' }, by: 'end' },
    /^\S+ ended its response early\.$/,
  ],
]

const PERMANENT: [string, Turn, RegExp][] = [400, 401, 402, 403, 404, 405, 413, 422].map((status) => [
  String(status),
  { status, message: 'The model is not for you.', code: 'not_for_you' },
  new RegExp(`returned HTTP ${status} not_for_you: The model is not for you\\.`),
])

describe.each(SCRIPTED_PROVIDERS)('an error of %s', (format) => {
  it.each([
    ...TRANSIENT.map((row) => [true, ...row] as const),
    ...PERMANENT.map((row) => [false, ...row] as const),
  ])('is transient: %s, for %s', async (isTransient, _, turn, message) => {
    const error = await getError(format, turn)
    expect(error).toMatchObject({ isTransient, retryAfterMs: null })
    expect(error.message).toMatch(message)
  })

  it('contains the requested delay', async () => {
    const headers = { 'retry-after': '7' }
    expect(await getError(format, { status: 429, headers })).toMatchObject({
      isTransient: true,
      retryAfterMs: 7_000,
    })
    expect(await getError(format, { status: 400, headers })).toMatchObject({ retryAfterMs: null })
  })

  it.each([
    ['completely', `Cannot take "${SECRET_TEXT}".`],
    ['partially', 'Cannot take "…number is 4711-08…".'],
    ['from the instructions', 'Cannot take "Be brief." as a system message.'],
  ])('omits a message that quotes the request: %s', async (_, message) => {
    const error = await getError(format, { status: 400, message, code: 'bad_prompt' })
    expect(error.message).toMatch(/returned HTTP 400 bad_prompt\. The message was omitted/)
  })

  it('is permanent for an invalid history, which is not sent', async () => {
    const { model, id } = await openScripted(server, format, [{ text: 'Never sent.' }])
    const messages = [{ role: 'unknown', content: SECRET_TEXT }]
    await expect(model.respond(requestOf(model, { messages }))).rejects.toMatchObject({
      name: 'ModelError',
      isTransient: false,
      message: expect.not.stringContaining(SECRET_TEXT),
    })
    expect(server.requests(id)).toHaveLength(0)
  })

  it('is transient if the connection is refused', async () => {
    const url = `http://127.0.0.1:${await freePort()}/v1`
    const environment = { ...server.environmentFor(format), [TRAITS[format].variables.baseUrl]: url }
    const model = await openModel(`${format}/unreachable`, environment)
    const message = new RegExp(`^Could not connect to ${format} at ${url}/\\S+ \\(ECONNREFUSED\\)\\.$`)
    await expect(model.respond(requestOf(model))).rejects.toMatchObject({
      isTransient: true,
      isUnreachable: true,
      message: expect.stringMatching(message),
    })
  })

  it('is replaced by the abort reason if the caller aborts', async () => {
    const { model, requests } = await openScripted(server, format, [{ text: 'Late.', delayMs: 20_000 }])
    const controller = new AbortController()
    const reason = new Error('The lease is lost.')
    const responding = model.respond(requestOf(model, { signal: controller.signal }))
    const watching = setInterval(() => requests().length > 0 && controller.abort(reason), 5)
    await expect(responding).rejects.toBe(reason)
    clearInterval(watching)
    await expect(model.respond(requestOf(model, { signal: controller.signal }))).rejects.toBe(reason)
    expect(requests()).toHaveLength(1)
  })

  it('is replaced by the TimeoutError of the signal', async () => {
    const { model } = await openScripted(server, format, [{ text: 'Late.', delayMs: 20_000 }])
    const responding = model.respond(requestOf(model, { signal: AbortSignal.timeout(50) }))
    await expect(responding).rejects.toMatchObject({ name: 'TimeoutError' })
  })
})

describe('an overflow of the context window', () => {
  it.each<[Provider, number, string, string]>([
    ['openai', 400, 'context_length_exceeded', "This model's maximum context length is 128000 tokens."],
    ['anthropic', 400, 'invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'],
    [
      'anthropic',
      400,
      'invalid_request_error',
      'input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000, decrease input length',
    ],
    ['anthropic', 413, 'request_too_large', 'Request exceeds the maximum size'],
    ['bedrock', 400, 'ValidationException', 'Input is too long for requested model.'],
    [
      'bedrock',
      400,
      'ValidationException',
      'Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again.',
    ],
    ['bedrock', 400, 'ValidationException', "This model's maximum context length is 8192 tokens."],
    ['openai-compatible', 400, 'exceed_context_size_error', 'the request exceeds the available context size'],
    [
      'openai-compatible',
      400,
      'BadRequestError',
      'The decoder prompt (length 5000) is longer than the maximum model length of 4096.',
    ],
    [
      'openai-compatible',
      400,
      'INVALID_ARGUMENT',
      'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    ],
    [
      'openai-compatible',
      400,
      'invalid_request',
      'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
    ],
    [
      'openai-compatible',
      400,
      '',
      'Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens.',
    ],
    ['openai-compatible', 500, 'server_error', 'the request exceeds the available context size'],
  ])('is recognized: %s %i %s', async (format, status, code, message) => {
    expect(await getError(format, { status, code, message })).toMatchObject({
      isOverflow: true,
      isTransient: false,
    })
  })

  it.each<[string, Turn]>([
    [
      'a limit of tokens per minute',
      {
        status: 429,
        code: 'rate_limit_exceeded',
        message: 'Request too large for gpt-4 on tokens per min (TPM)',
      },
    ],
    [
      'the same with status 413',
      { status: 413, code: 'rate_limit_exceeded', message: 'Request too large: tokens per minute (TPM)' },
    ],
    ['an output limit that is too high', { status: 400, message: 'max_tokens: 64000 > 8192 output tokens' }],
    ['an unknown model', { status: 404, message: 'The model does not exist' }],
  ])('is not %s', async (_, turn) => {
    expect(await getError('openai', turn)).toMatchObject({ isOverflow: false })
  })
})

describe('an error of openai', () => {
  it('is permanent if the quota is exhausted', async () => {
    const error = await getError('openai', {
      status: 429,
      code: 'insufficient_quota',
      headers: { 'retry-after': '7' },
    })
    expect(error).toMatchObject({ isTransient: false, retryAfterMs: null })
  })

  it.each([
    [{ code: 'server_error' }, true, 'returned HTTP 200 server_error'],
    [{ code: 'server_error', type: 'server_error' }, true, 'returned HTTP 200 server_error'],
    [{ code: 'invalid_prompt' }, false, 'returned HTTP 200 invalid_prompt'],
    [{ code: 'invalid_prompt', type: 'invalid_request_error' }, false, 'returned HTTP 200 invalid_prompt'],
  ])('uses the reported error of a response with status 200: %j', async (reported, isTransient, summary) => {
    const garbage = JSON.stringify({ id: 'r', output: [], error: { ...reported, message: 'It failed.' } })
    const error = await getError('openai', { garbage })
    expect(error).toMatchObject({ isTransient, message: `openai ${summary}: It failed.` })
  })
})

describe('an error of openai-compatible', () => {
  it('is transient for a response without a choice', async () => {
    const error = await getError('openai-compatible', { garbage: '{"choices": []}' })
    expect(error).toMatchObject({
      isTransient: true,
      message: expect.stringContaining('response in an unknown format'),
    })
  })

  it('does not mask a placeholder key', async () => {
    server.script('placeholder', [{ status: 404, message: 'No model of ollama.' }])
    const environment = { ...server.environmentFor('openai-compatible'), OPENAI_COMPATIBLE_API_KEY: 'ollama' }
    const model = await openModel('openai-compatible/placeholder', environment)
    await expect(model.respond(requestOf(model))).rejects.toThrow('No model of ollama.')
  })

  it.each([
    [502, true],
    [400, false],
  ])('uses the reported status of a response with status 200: %i', async (code, isTransient) => {
    const garbage = JSON.stringify({ error: { code, message: 'It failed.' } })
    const error = await getError('openai-compatible', { garbage })
    expect(error).toMatchObject({
      isTransient,
      message: `openai-compatible returned HTTP ${code}: It failed.`,
    })
  })
})

const NOW = Date.parse('2026-11-21T08:00:00Z')

describe('parseRetryAfter', () => {
  it.each([
    [undefined, null],
    [{}, null],
    [{ 'retry-after': '7' }, 7_000],
    [{ 'retry-after': ' 0 ' }, 0],
    [{ 'retry-after': '1.5' }, 1_500],
    [{ 'retry-after': '120' }, 120_000],
    [{ 'retry-after-ms': '250', 'retry-after': '7' }, 250],
    [{ 'retry-after-ms': 'soon', 'retry-after': '7' }, 7_000],
    [{ 'retry-after': 'Sat, 21 Nov 2026 08:00:30 GMT' }, 30_000],
    [{ 'retry-after': 'Sat, 21 Nov 2026 07:00:00 GMT' }, 0],
    [{ 'retry-after': '-5' }, null],
    [{ 'retry-after': '' }, null],
    [{ 'retry-after': 'tomorrow' }, null],
    [{ 'retry-after': '9'.repeat(400) }, null],
  ])('parses %j to %s', (headers, expected) => {
    expect(parseRetryAfter(headers, NOW)).toBe(expected)
  })
})
