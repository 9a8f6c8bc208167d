import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { ScriptedProvider } from '../../support/scripted-model/recorded-request.ts'
import type { Script } from '../../support/scripted-model/turn.ts'
import { json, serve } from '../../tools/serve.ts'
import { secret } from '../../tools/tools.ts'
import { requestOf, useScriptedModel } from '../support.ts'

const server = await useScriptedModel()
const FORMATS = ['openai-compatible', 'openai', 'anthropic'] as const
const KEY = 'the-key-of-the-gateway'

const ANOTHER_KEY = Object.fromEntries(
  ['OPENAI', 'ANTHROPIC', 'OPENAI_COMPATIBLE'].map((name) => [`${name}_API_KEY`, 'another-key']),
)

/** Opens a model of the endpoint `gate`, on the scripted server. */
async function openAt(
  format: ScriptedProvider,
  script: Script,
  endpoint: object,
  environment: object = { GATE_KEY: KEY },
) {
  const id = `script-${randomUUID()}`
  server.script(id, script)
  const gate = { baseUrl: `${server.url}/${format}/v1`, format, ...endpoint }
  const open = async () => {
    const { openModel } = await import('../../../lib/models/open-model.ts')
    return openModel(`gate/${id}`, {
      ...ANOTHER_KEY,
      OPENAI_COMPATIBLE_MAX_OUTPUT_TOKENS: '77',
      MODEL_ENDPOINTS: JSON.stringify({ gate }),
      ...environment,
    })
  }
  return { open, requests: () => server.requests(id) }
}

afterEach(() => vi.unstubAllEnvs())

describe.each(FORMATS)('a model of an endpoint in the format of %s', (format) => {
  const keyHeader = format === 'anthropic' ? 'x-api-key' : 'authorization'
  const shown = format === 'anthropic' ? KEY : `Bearer ${KEY}`

  it('gets the key and the headers of the endpoint, and the name of the endpoint', async () => {
    const headers = { 'X-Team': 'agents', 'X-Trace-Token': `t-${secret('TRACE')}` }
    const { open, requests } = await openAt(
      format,
      [{ text: 'Hello' }],
      { apiKey: secret('GATE_KEY'), headers },
      { GATE_KEY: `${KEY}\n`, TRACE: 'abc' },
    )
    const model = await open()
    expect(model.name).toMatch(/^gate\/script-/)
    expect(await model.respond(requestOf(model))).toMatchObject({ text: 'Hello' })
    expect(requests()[0]?.headers).toMatchObject({
      [keyHeader]: shown,
      'x-team': 'agents',
      'x-trace-token': 't-abc',
    })
    expect(JSON.stringify(requests())).not.toContain('another-key')
  })

  it('gets no key header without a key, and that of the headers if there is one', async () => {
    const script = [{ text: 'a' }, { text: 'b' }]
    const { open, requests } = await openAt(format, script, { headers: { 'api-key': secret('GATE_KEY') } })
    const model = await open()
    await model.respond(requestOf(model))
    const [{ headers } = { headers: {} as Record<string, string> }] = requests()
    expect(headers['api-key']).toBe(KEY)
    expect(headers.authorization).toBeUndefined()
    expect(headers['x-api-key']).toBeUndefined()
  })

  it('has the output limit of the endpoint, not that of small local models', async () => {
    const limitOf = async (traits: object) => {
      const { open, requests } = await openAt(format, [{ text: 'a' }], { traits })
      const model = await open()
      await model.respond(requestOf(model))
      return requests()[0]?.maxOutputTokens
    }
    expect(await limitOf({ maxOutputTokens: 123 })).toBe(123)
    expect(await limitOf({})).not.toBe(77)
  })

  it('has the context window of the endpoint', async () => {
    const { open } = await openAt(format, [], { traits: { contextWindow: 32_000 } })
    expect((await open()).contextWindow).toBe(32_000)
  })

  it('names the endpoint in errors, and masks its secrets', async () => {
    const message = `The key ${KEY} and the header trace-secret are wrong.`
    const { open } = await openAt(
      format,
      [{ status: 401, message }],
      { apiKey: secret('GATE_KEY'), headers: { 'x-trace-token': secret('TRACE') } },
      { GATE_KEY: KEY, TRACE: 'trace-secret' },
    )
    const model = await open()
    const masked = /^gate returned HTTP 401 .*The key \[secret\] and the header \[secret\] are wrong/
    await expect(model.respond(requestOf(model))).rejects.toMatchObject({
      message: expect.stringMatching(masked),
      isTransient: false,
    })
  })
})

describe('the secrets of an endpoint', () => {
  const endpoint = { apiKey: secret('GATE_KEY') }
  const INVALID = 'The secret GATE_KEY of the endpoint gate contains an invalid character.'

  it.each([
    [{}, 'the secret GATE_KEY of the endpoint gate is not set.'],
    [{ GATE_KEY: 'hidden\u00e9' }, INVALID],
    [{ GATE_KEY: 'hid\r\nden: 1' }, INVALID],
  ])('are checked before anything is sent: %j', async (environment, message) => {
    const { open, requests } = await openAt('openai', [], endpoint, environment)
    const error = await open().catch((thrown: Error) => thrown)
    expect(error).toMatchObject({
      name: 'ModelConfigurationError',
      message: expect.stringContaining(message),
    })
    expect(String(error)).not.toContain('hidden')
    expect(requests()).toHaveLength(0)
  })

  it('are parameters of the stack on AWS, and not variables of the function', async () => {
    const store = await serve((response, { body }) => {
      const { Name } = JSON.parse(body)
      if (Name === '/aes/stack/secrets/GATE_KEY') return json(response, { Parameter: { Name, Value: KEY } })
      const __type = Name.endsWith('DENIED') ? 'AccessDeniedException' : 'ParameterNotFound'
      return json(response, { __type }, 400)
    })
    const secrets = await serve((response) => json(response, { __type: 'ResourceNotFoundException' }, 400))
    // The clients of AWS belong to the process.
    vi.resetModules()
    const aws = { AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' }
    const urls = { AWS_ENDPOINT_URL_SSM: store.url, AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.url }
    for (const [name, value] of Object.entries({ ...aws, ...urls })) vi.stubEnv(name, value)
    const environment = { SECRETS_PREFIX: '/aes/stack/secrets', GATE_KEY: 'of-the-function', MISSING: 'x' }
    const { open, requests } = await openAt('openai', [{ text: 'a' }], endpoint, environment)
    const model = await open()
    await model.respond(requestOf(model))
    expect(requests()[0]?.headers.authorization).toBe(`Bearer ${KEY}`)
    const missing = await openAt('openai', [], { apiKey: secret('MISSING') }, environment)
    await expect(missing.open()).rejects.toMatchObject({
      name: 'ModelConfigurationError',
      message: 'The secret MISSING of the endpoint gate does not exist.',
    })
    const denied = await openAt('openai', [], { apiKey: secret('DENIED') }, environment)
    await expect(denied.open()).rejects.toMatchObject({
      name: 'ModelError',
      message: 'Could not read the secret DENIED of the endpoint gate (AccessDeniedException).',
      isTransient: true,
    })
  })
})
