import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseDocument } from '../../lib/agents/document/check-document.ts'
import { type AgentDocument, documentSchema } from '../../lib/agents/document/document.ts'
import { toContent, toFrontMatter } from '../../lib/agents/document/version-content.ts'
import { toDocumentText, type Version } from '../../lib/core/agent.ts'
import { sha256 } from '../../lib/core/json/hash-json.ts'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { versionFromItem, versionToItem } from '../../lib/dynamodb/agent-item.ts'

const SEPARATORS = [...'\u2028\u0085\ufeff\t\\😀', '---', '\n---\n', '\r\n', '# x: y', 'it\'s "x"']
const texts = fc
  .array(fc.oneof(fc.string({ unit: 'grapheme', maxLength: 12 }), fc.constantFrom(...SEPARATORS)), {
    minLength: 1,
    maxLength: 5,
  })
  .map((parts) => parts.join(''))
const count = fc.integer({ min: 1, max: 50 })
const NAMES = ['a', 'b-2', '__proto__', 'constructor', 'größe', '1', 'null', 'x: y', 'n'.repeat(1_100)]
const names = fc.constantFrom(...NAMES)
const optional = <T extends object>(fields: { [Name in keyof T]: fc.Arbitrary<T[Name]> }) =>
  fc.record(fields, { requiredKeys: [] })

const fieldMap = fc.dictionary(
  names,
  fc.oneof(
    fc.record({ type: fc.constant('string'), description: texts }),
    fc.record({
      type: fc.constant('number'),
      default: fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer()),
    }),
  ),
  { noNullPrototype: true },
)
const jsonSchema = fieldMap.map((properties) => ({ type: 'object', properties, additionalProperties: false }))
const schemas = fc.oneof(fieldMap, jsonSchema)
const models = fc.constantFrom('openai/gpt-5', 'bedrock/x.y-1:0', 'openai-compatible/qwen3:8b')
const model = fc.oneof(
  models,
  fc.array(models, { minLength: 2, maxLength: 3 }),
  fc.record({ name: models, temperature: fc.double({ min: 0, max: 2, noNaN: true }) }),
  fc.record({
    name: models,
    fallbacks: fc.array(models, { minLength: 1, maxLength: 2 }),
    maxOutputTokens: count,
  }),
  fc.record({ maxOutputTokens: count }),
)
const tools = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom('get_order', 'refund', 'look'),
    description: texts,
    input: fc.constant({ orderId: { type: 'string' } }),
    http: fc.record({
      method: fc.constantFrom('GET', 'POST'),
      url: fc.constant('https://shop.example/{orderId}'),
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference to a secret of a document.
      headers: fc.constant({ Authorization: 'Bearer ${secret:SHOP_KEY}' }),
    }),
    approval: fc.constant(true),
  }),
  { selector: ({ name }) => name, minLength: 1 },
)
const schedules = fc.dictionary(
  fc.constantFrom('nightly', 'hourly'),
  fc.record(
    {
      cron: fc.constantFrom('@daily', '5 * * * *'),
      input: fc.dictionary(names, texts, { noNullPrototype: true }),
      timezone: fc.constant('Europe/Berlin'),
    },
    { requiredKeys: ['cron'] },
  ),
  { minKeys: 1, noNullPrototype: true },
)
const execution = optional({
  useCache: fc.boolean(),
  enforceInputSchema: fc.boolean(),
  cacheTtlSeconds: count,
  timeoutSeconds: count,
  maxTokens: fc.oneof(fc.constant(null), count),
  maxCostUsd: fc.double({ min: 0.01, max: 5, noNaN: true }),
  maxAgentSteps: count,
  models: fc.array(models),
  maxParallelToolCalls: fc.integer({ min: 1, max: 20 }),
  maxChildren: fc.integer({ min: 0, max: 20 }),
  promotion: optional({
    require: fc.constant('trial'),
    maxRegressed: count,
    maxCostIncrease: fc.double({ min: 0, max: 9, noNaN: true }),
  }),
})
/** Every field of a document, without what says the same as leaving it out. */
const fields = {
  title: texts.filter((text) => text.trim() !== ''),
  description: texts,
  slug: fc.constantFrom('order-support', 'a1'),
  ...{ input: schemas, output: schemas, model, tools, schedules, execution },
  requireTools: fc.constant(true),
  context: optional({ window: fc.constant(100_000), keep: count }),
  code: fc.constant(true),
  remote: fc.record({
    url: fc.constant('https://agents.example/run'),
    timeoutSeconds: count,
    readOnly: fc.boolean(),
  }),
  env: fc.array(fc.constantFrom('SHOP', 'KEY'), { minLength: 1 }),
  useDynamicLearning: fc.boolean(),
  learning: fc.constantFrom({ feedback: 'all' }, { unrated: true }, { feedback: 'all', unrated: true }),
  scorers: fc.uniqueArray(
    fc
      .tuple(
        fc.constantFrom('faithful', 'short'),
        optional({
          min: fc.double({ min: 0, max: 1, noNaN: true }),
          sample: count,
          tolerance: fc.constant(0.2),
        }),
      )
      .map(([agent, settings]) => ({ agent, ...settings })),
    { selector: ({ agent }) => agent, minLength: 1 },
  ),
  keys: fc.dictionary(
    fc.constantFrom('orderId', 'constructor'),
    fc.constantFrom({ input: '/a' }, { output: '/b/c' }),
    { minKeys: 1, noNullPrototype: true },
  ),
}
const documents = fc.record(fields, { requiredKeys: ['title', 'input', 'output'] })

/** As it is stored and read again. */
function toVersion(document: AgentDocument): Version {
  const ids = { id: 'v', agentId: 'a', organizationId: 'o', createdBy: '', createdAt: '' }
  const meta = { ...ids, status: 'DRAFT' as const, digest: '' }
  const hash = sha256(JSON.stringify(document))
  return versionFromItem(versionToItem({ ...meta, ...toContent(document), documentHash: hash }))
}
const parse = (frontMatter: object, instructions: string) =>
  parseDocument(toDocumentText(frontMatter as JsonObject, instructions), 'folder').document
/** As a client gets it. */
const frontMatterOf = (version: Version) => JSON.parse(JSON.stringify(toFrontMatter(version)))

describe('toFrontMatter', () => {
  it('publishes the same document again, whatever is in it', () => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(documents, texts, (written, instructions) => {
        const document = parse(written, instructions)
        fc.pre(document !== null)
        for (const name of Object.keys(written)) seen.add(name)
        const version = toVersion(document)
        const again = parse(frontMatterOf(version), version.instructions)
        expect(again).toEqual(document)
        expect(sha256(JSON.stringify(again))).toBe(version.documentHash)
      }),
      { numRuns: 40 },
    )
    expect([...seen].sort()).toEqual(Object.keys(documentSchema.shape).sort())
  })

  it('leaves out what says the same as nothing', () => {
    const written = {
      ...{ title: 'A', slug: 'a', input: {}, output: {}, description: null, model: { name: 'openai/gpt-5' } },
      ...{ requireTools: false, learning: { feedback: 'reviewed', unrated: false }, schedules: {}, keys: {} },
      ...{ tools: [], env: [], code: false, execution: { maxTokens: null } },
    }
    const document = parse(written, 'Sort it.') as AgentDocument
    const again = parse(frontMatterOf(toVersion(document)), 'Sort it.') as AgentDocument
    expect(toContent(again)).toEqual(toContent(document))
  })

  it('is null for a version that could not be published as it is', () => {
    const document = parse({ title: 'A', slug: 'a', input: {}, output: {} }, 'Sort it.') as AgentDocument
    const version = toVersion(document)
    expect(toFrontMatter({ ...version, tools: [{ name: 'get', soap: {} }] })).toBeNull()
    expect(toFrontMatter({ ...version, title: ' A' })).toBeNull()
    expect(toFrontMatter({ ...version, instructions: ' Sort it.' })).toBeNull()
  })
})
