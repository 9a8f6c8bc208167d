import { describe, expect, it } from 'vitest'
import { ModelConfigurationError } from '../../../lib/core/model.ts'
import { checkModel } from '../../../lib/models/check-model.ts'
import { endpointsOf, parseModelEndpoints } from '../../../lib/models/endpoints/model-endpoints.ts'
import { formatModelName, parseModelName } from '../../../lib/models/model-name.ts'
import { findPrice } from '../../../lib/models/prices/price-table.ts'
import { getAnswerModes, supports, toReasoningOptions } from '../../../lib/models/providers/model-traits.ts'
import { readSection } from '../../infra/read-section.ts'
import { secret } from '../../tools/tools.ts'

const KEY = secret('GROQ_KEY')
const groq = { baseUrl: 'https://groq.example/openai/v1', apiKey: KEY }
const withEndpoints = (endpoints: object, more = {}) => ({
  MODEL_ENDPOINTS: JSON.stringify(endpoints),
  ...more,
})
const one = (overrides: object) => JSON.stringify({ groq: { ...groq, ...overrides } })
const TOO_MANY = JSON.stringify(Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`e${i}`, groq])))

describe('parseModelEndpoints', () => {
  it('adds the defaults', () => {
    expect(parseModelEndpoints(one({}))).toEqual({
      groq: { ...groq, name: 'groq', format: 'openai-compatible', headers: {}, traits: {}, prices: {} },
    })
    expect(parseModelEndpoints('')).toEqual({})
  })

  it.each<[string, string]>([
    ['{', 'Invalid MODEL_ENDPOINTS: it must be a JSON object such as {"groq": {"baseUrl": '],
    ['[]', 'it must be a JSON object'],
    [TOO_MANY, 'it must have at most 32 endpoints.'],
    ['{"Groq": {}}', '"Groq" must be a name of at most 40 lowercase letters'],
    ['{"a/b": {}}', '"a/b" must be a name'],
    ['{"__proto__": {}}', '"__proto__" must be a name'],
    ['{"openai": {}}', '"openai" is the name of a provider.'],
    ['{"groq": 1}', '"groq" must be an object with a "baseUrl".'],
    ['{"groq": {}}', '"groq.baseUrl" must be an http or https URL'],
    [one({ baseUrl: 'groq.example' }), '"groq.baseUrl" must be an http or https URL'],
    [one({ baseUrl: 'https://me:hidden@groq.example' }), '"groq.baseUrl" must be an http or https URL'],
    [one({ baseUrl: 'https://groq.example?key=hidden' }), '"groq.baseUrl" must be an http or https URL'],
    [one({ baseURL: 'x' }), '"groq.baseURL" is unknown; allowed: baseUrl, format,'],
    [one({ format: 'bedrock' }), '"groq.format" must be one of openai-compatible, openai, anthropic.'],
    [one({ apiKey: 'sk-hidden' }), '"groq.apiKey" must be a secret reference such as ${'],
    [one({ apiKey: `Bearer ${KEY}` }), '"groq.apiKey" must be a secret reference'],
    [one({ headers: [] }), '"groq.headers" must be an object.'],
    [one({ headers: { 'a b': 'x' } }), '"groq.headers.a b" is not a valid header name.'],
    [one({ headers: { Host: 'x' } }), '"groq.headers.Host" is reserved'],
    [one({ headers: { a: 1 } }), '"groq.headers.a" must be a text of printable'],
    [one({ headers: { a: 'x\ny' } }), '"groq.headers.a" must be a text of printable'],
    [one({ headers: { a: `\${GROQ}` } }), 'contains a "${" that is not a secret reference'],
    [one({ headers: { 'api-key': 'hidden' } }), '"groq.headers.api-key" must contain a secret reference'],
    ...['Authorization', 'X-Gateway-Token'].map((name): [string, string] => [
      one({ headers: { [name]: 'Bearer hidden' } }),
      `"groq.headers.${name}" must contain a secret`,
    ]),
    [one({ traits: { vision: true } }), '"groq.traits.vision" is unknown; allowed: forcedTool, json,'],
    [one({ traits: { images: 'yes' } }), '"groq.traits.images" must be true or false.'],
    [
      one({ traits: { reasoningLevels: ['extreme'] } }),
      '"groq.traits.reasoningLevels" must be a list of none,',
    ],
    [one({ traits: { maxOutputTokens: 0 } }), '"groq.traits.maxOutputTokens" must be an integer from 1 to'],
    [one({ traits: { contextWindow: 10 } }), '"groq.traits.contextWindow" must be an integer from '],
    [one({ prices: { '*': 1 } }), '"groq.prices.*" must have a price'],
    [one({ prices: { m: { input: 1 } } }), '"groq.prices.m" must have a rate "output" of 0 or more'],
  ])('rejects %s', (text, message) => {
    const parse = () => parseModelEndpoints(text)
    expect(parse).toThrow(message)
    expect(parse).toThrow(ModelConfigurationError)
    expect(parse).not.toThrow('hidden')
  })

  it('follows changes of the environment', () => {
    expect(Object.keys(endpointsOf(withEndpoints({ groq })))).toEqual(['groq'])
    expect(Object.keys(endpointsOf(withEndpoints({ azure: groq })))).toEqual(['azure'])
    expect(endpointsOf({})).toEqual({})
  })
})

describe('the name of a model of an endpoint', () => {
  const environment = withEndpoints({ groq, constructor: groq }, { GROQ_KEY: 'k' })

  it.each(['groq/llama-3.3', 'groq/meta-llama/llama:8b:low', 'constructor/x'])(
    'is parsed and formatted: %s',
    (text) => {
      const name = parseModelName(text, environment)
      expect(name).toMatchObject({ provider: 'openai-compatible', endpoint: { name: text.split('/')[0] } })
      expect(formatModelName(name)).toBe(text)
    },
  )

  it('is unknown without the endpoint, and lists those that are known', () => {
    expect(() => parseModelName('mistral/large', environment)).toThrow(
      'with one of bedrock, anthropic, openai, openai-compatible, groq, constructor.',
    )
    expect(() => parseModelName('groq/llama-3.3', {})).toThrow(
      'with one of bedrock, anthropic, openai, openai-compatible.',
    )
    expect(() => parseModelName('valueOf/x', environment)).toThrow('no known provider')
  })

  it('does not depend on the endpoints for a model of a provider', () => {
    expect(parseModelName('openai/gpt-5', { MODEL_ENDPOINTS: '{' })).toMatchObject({ provider: 'openai' })
    expect(() => parseModelName('groq/x', { MODEL_ENDPOINTS: '{' })).toThrow('Invalid MODEL_ENDPOINTS')
  })
})

describe('checkModel', () => {
  const levels = withEndpoints({ groq: { ...groq, traits: { reasoningLevels: ['low', 'high'] } } })

  const team = { ...groq, headers: { 'x-team-key': secret('TEAM') } }
  const KEY_NOT_SET = 'the secret GROQ_KEY of the endpoint groq is not set.'
  const withTeam = withEndpoints({ groq: team }, { GROQ_KEY: 'k' })

  it('accepts a model of an endpoint whose secrets are set, whatever the settings of the provider', () => {
    const environment = withEndpoints({ groq }, { GROQ_KEY: 'k', OPENAI_COMPATIBLE_BASE_URL: 'wrong' })
    expect(checkModel('groq/qwen3:8b', environment)).toMatchObject({ model: 'qwen3:8b' })
    expect(checkModel('groq/llama:high', { ...levels, GROQ_KEY: 'k' })).toMatchObject({ reasoning: 'high' })
  })

  it.each([
    ['groq/llama', withEndpoints({ groq }), KEY_NOT_SET],
    ['groq/llama', withEndpoints({ groq }, { GROQ_KEY: ' ' }), KEY_NOT_SET],
    ['groq/llama', withTeam, 'the secret TEAM of the endpoint groq is not set.'],
    ['groq/llama:medium', { ...levels, GROQ_KEY: 'k' }, 'Supported levels: default, low, high.'],
  ])('rejects %s', (name, environment, message) => {
    expect(() => checkModel(name, environment)).toThrow(`Cannot use the model ${name}: `)
    expect(() => checkModel(name, environment)).toThrow(message)
  })

  it('leaves the secrets to the run where they are not variables', () => {
    const environment = withEndpoints({ groq }, { SECRETS_PREFIX: '/aes/x/secrets' })
    expect(checkModel('groq/llama', environment)).toMatchObject({ model: 'llama' })
  })
})

describe('the traits of an endpoint', () => {
  const nameOf = (endpoint: object, model: string) =>
    parseModelName(`e/${model}`, withEndpoints({ e: { ...groq, ...endpoint } }))

  it('take the place of what the provider says about the model', () => {
    expect(getAnswerModes(nameOf({}, 'x'))).toContain('json')
    const traits = { json: false, forcedTool: true }
    expect(getAnswerModes(nameOf({ traits }, 'x'))).toEqual(['tool', 'forced-tool'])
  })

  it.each([
    ['gpt-5', {}, true],
    ['our-deployment', {}, false],
    ['our-deployment', { images: true }, true],
    ['gpt-5', { images: false }, false],
  ])('say whether %s reads images: %j', (model, traits, expected) => {
    expect(supports(nameOf({ format: 'openai', traits }, model), 'images')).toBe(expected)
  })

  it('give every model its levels, with the options of the format', () => {
    const traits = { reasoningLevels: ['low'] }
    const optionsOf = (format: string, model: string) =>
      toReasoningOptions(nameOf({ format, traits }, `${model}:low`)).options
    expect(optionsOf('openai', 'gpt-4-of-the-team')).toMatchObject({ reasoningEffort: 'low' })
    expect(optionsOf('openai-compatible', 'x')).toMatchObject({ reasoningEffort: 'low' })
    expect(optionsOf('anthropic', 'claude-opus-4-6')).toMatchObject({ effort: 'low' })
  })
})

describe('the price of a model of an endpoint', () => {
  const prices = { 'llama-3.3': { input: 1, output: 2 }, 'llama-*': { input: 3, output: 4 } }
  const environment = withEndpoints({ groq: { ...groq, prices }, azure: { ...groq, format: 'openai' } })

  it('is that of the endpoint: the exact name, then the longest beginning', async () => {
    expect(await findPrice('groq/llama-3.3', environment)).toEqual({ input: 1, output: 2 })
    expect(await findPrice('groq/llama-3.3:low', environment)).toEqual({ input: 1, output: 2 })
    expect(await findPrice('groq/llama-4', environment)).toEqual({ input: 3, output: 4 })
    expect(await findPrice('groq/qwen', environment)).toBeNull()
  })

  it('is not that of the provider with the format', async () => {
    expect(await findPrice('openai/gpt-5', environment)).not.toBeNull()
    expect(await findPrice('azure/gpt-5', environment)).toBeNull()
  })
})

describe('docs/models.md', () => {
  it('has an example that is valid', () => {
    const [, example = ''] = /```json\n([\s\S]*?)```/.exec(readSection('models.md', 'Endpoints')) ?? []
    expect(Object.keys(parseModelEndpoints(example))).toEqual(['groq', 'azure'])
  })

  it('lists every trait', () => {
    const parse = () => parseModelEndpoints(one({ traits: { unknown: true } }))
    const allowed = /allowed: (.*)\.$/.exec(messageOf(parse))?.[1]?.split(', ') ?? []
    const traits = readSection('models.md', 'Endpoints')
    expect(allowed.length).toBeGreaterThan(5)
    expect(allowed.filter((trait) => !traits.includes(`\`${trait}\``))).toEqual([])
  })
})

function messageOf(run: () => unknown): string {
  try {
    run()
    return ''
  } catch (error) {
    return (error as Error).message
  }
}
