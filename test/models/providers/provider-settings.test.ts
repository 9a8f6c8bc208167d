import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { PROVIDERS, traitsOf } from '../../../lib/models/providers/providers.ts'
import { readSection } from '../../infra/read-section.ts'
import { json, serve } from '../../tools/serve.ts'

const PARAMETERS: Record<string, string> = { '/team/openai': ' sk-from-ssm\n', '/team/empty': ' ' }

/** A server for the SSM API, and modules with an empty cache. */
async function setUp() {
  vi.resetModules()
  const store = await serve((response, { body }) => {
    const { Name, WithDecryption } = JSON.parse(body)
    const fail = (__type: string) => json(response, { __type, message: 'no' }, 400)
    if (Name === '/team/denied') return fail('AccessDeniedException')
    const Value = PARAMETERS[Name]
    if (Value === undefined) return fail('ParameterNotFound')
    return WithDecryption ? json(response, { Parameter: { Name, Value } }) : fail('NotDecrypted')
  })
  vi.stubEnv('AWS_ENDPOINT_URL_SSM', store.url)
  const [{ withProviderKey }, { openModel }, model] = await Promise.all([
    import('../../../lib/models/providers/provider-settings.ts'),
    import('../../../lib/models/open-model.ts'),
    import('../../../lib/core/model.ts'),
  ])
  return { store, withProviderKey, openModel, model }
}

beforeEach(() => {
  vi.stubEnv('AWS_REGION', 'eu-central-1')
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test')
})
afterEach(() => vi.unstubAllEnvs())

const openai = { OPENAI_API_KEY_PARAMETER: '/team/openai' }

describe('withProviderKey', () => {
  it('reads a missing key once from the configured parameter', async () => {
    const { store, withProviderKey } = await setUp()
    const expected = { ...openai, OPENAI_API_KEY: 'sk-from-ssm' }
    expect(await withProviderKey('openai', openai)).toEqual(expected)
    expect(await withProviderKey('openai', openai)).toEqual(expected)
    expect(store.received).toHaveLength(1)
  })

  it('does not read a parameter if the key is set, no parameter is configured, or the provider is another one', async () => {
    const { store, withProviderKey } = await setUp()
    for (const environment of [{ ...openai, OPENAI_API_KEY: 'sk-here' }, {}])
      expect(await withProviderKey('openai', environment)).toBe(environment)
    for (const provider of ['bedrock', 'openai-compatible', 'anthropic'] as const)
      expect(await withProviderKey(provider, openai)).toBe(openai)
    expect(store.received).toHaveLength(0)
  })

  it.each(['/team/none', '/team/empty'])(
    'throws a ModelConfigurationError if %s contains no key',
    async (name) => {
      const { withProviderKey, model } = await setUp()
      const reading = withProviderKey('anthropic', { ANTHROPIC_API_KEY_PARAMETER: name })
      await expect(reading).rejects.toThrow(`The SSM parameter ${name} does not contain an API key.`)
      await expect(reading).rejects.toBeInstanceOf(model.ModelConfigurationError)
    },
  )

  it('throws a transient ModelError if the parameter cannot be read', async () => {
    const { withProviderKey, model } = await setUp()
    const reading = withProviderKey('openai', { OPENAI_API_KEY_PARAMETER: '/team/denied' })
    await expect(reading).rejects.toThrow(/\/team\/denied \(AccessDeniedException\)/)
    await expect(reading).rejects.toBeInstanceOf(model.ModelError)
    await expect(reading).rejects.toMatchObject({ isTransient: true })
  })
})

describe('docs/models.md', () => {
  const rows = readSection('models.md', 'Providers').split('\n')

  it.each(PROVIDERS)('lists %s with its variables and its setting', (provider) => {
    const { baseUrl, required, apiKey, outputLimit } = traitsOf(provider).variables
    const setting = apiKey && `${provider}KeyParameter`
    const names = [baseUrl, ...required, outputLimit?.name, setting].filter((name) => name !== undefined)
    const row = rows.find((line) => line.includes(`| \`${provider}/`))
    expect(names.filter((name) => !row?.includes(`\`${name}\``))).toEqual([])
  })
})
