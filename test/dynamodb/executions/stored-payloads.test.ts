import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { payloadOf } from '../../../bench/keys/payloads.ts'
import type { Execution, Feedback, Outcome } from '../../../lib/core/execution.ts'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import { parseJson } from '../../../lib/core/json/parse-json.ts'
import type { NewExecution } from '../../../lib/core/new-execution.ts'
import type { ModelStep, Step } from '../../../lib/core/step.ts'
import { cacheStore } from '../../../lib/dynamodb/cache-stores.ts'
import { executionStore } from '../../../lib/dynamodb/executions/execution-store.ts'
import { packRequest, unpackRequest } from '../../../lib/dynamodb/executions/request-item.ts'
import { stepStore } from '../../../lib/dynamodb/executions/step-store.ts'
import { cacheKey, executionKey, stepKey } from '../../../lib/dynamodb/table/keys.ts'
import { CorruptItem } from '../../../lib/dynamodb/table/stored-text.ts'
import { system } from '../../../lib/system.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'
import { anExecution, leased, modelStep, NO_PROGRESS } from '../../support/engine/executions.ts'
import { EMULATORS, tableOn } from '../../support/tables/emulators.ts'
import { itemsIn } from '../../support/tables/items-in.ts'

const AT = new Date().toISOString()

const OWNER = 'me'
const lease = { owner: OWNER, expiresAt: Date.now() + 60_000 }

/** An object whose JSON has this many bytes. */
const padded = (bytes: number): JsonObject => ({ text: 'x'.repeat(bytes - 11) })

/** One that gzip reduces to three quarters. */
const random = (bytes: number) => ({
  text: randomBytes(bytes)
    .toString('base64')
    .slice(0, bytes - 11),
})

describe.each(EMULATORS)('payloads on %s', (emulator) => {
  const table = tableOn(emulator)
  const store = executionStore(table)

  async function finished(
    output: JsonObject,
    logs: string,
    given: Partial<NewExecution>,
  ): Promise<Execution> {
    const execution = anExecution({ lease, ...given })
    await store.create({ execution })
    const outcome: Outcome = { status: 'SUCCESS', output, ...NO_PROGRESS, logs }
    await store.finish({ execution: leased(execution, OWNER), outcome, finishedAt: AT })
    return execution
  }
  const give = ({ id, organizationId }: Execution, feedback: Feedback, isReview: boolean) =>
    store.giveFeedback({ id, organizationId, feedback, isReview, writer: system.newId() })
  const recordOf = async ({ id }: { id: string }) =>
    (await table.get(executionKey(id), { consistent: true })) ?? {}
  const attributesOf = async (execution: Execution) => {
    const { input, output } = (await recordOf(execution)) as Record<string, object>
    return { input: Object.keys(input ?? {}), output: Object.keys(output ?? {}) }
  }

  it.each([
    [999, ['json']],
    [1_000, ['bytes', 'gzip']],
    [15_999, ['bytes', 'gzip']],
    [16_000, ['bytes', 'gzip']],
    [16_001, ['bytes', 'chunks', 'encoding', 'name']],
  ])('of %i bytes are read as they were written', async (bytes, attributes) => {
    const [given, made] = [padded(bytes), random(bytes)]
    const execution = await finished(made, '', { input: given })
    expect(await store.get(execution)).toMatchObject({ input: given, output: made })
    const { input, output } = await attributesOf(execution)
    expect({ input: input.sort(), output: output.sort() }).toEqual({ input: attributes, output: attributes })
  })

  it('keep every digit, key and character when they are compressed', async () => {
    const json = `{"n":[${'12345678901234567890.10,'.repeat(200)}1],"constructor":{"__proto__":"\\u0000 é 😀 \\ud800"}}`
    const input = parseJson(json) as JsonObject
    const [output, logs] = [payloadOf(4_000), '😀 log\n'.repeat(400)]
    const execution = await finished(output, logs, { input })
    expect((await attributesOf(execution)).input).toContain('gzip')
    const read = await store.get(execution)
    expect(read).toMatchObject({ input, output, logs })
    expect(JSON.stringify(read?.input)).toBe(JSON.stringify(input))
  })

  it('are compressed in the record, in steps, in tool results and in the cache', async () => {
    const payload = payloadOf(4_000)
    const execution = await finished(payload, 'a line\n'.repeat(1_000), { input: payload })
    const { id, organizationId } = execution
    const feedback = { rating: 1 as const, correctedOutput: payload, note: null, updatedAt: AT }
    for (const isReview of [true, false]) await give(execution, feedback, isReview)
    const steps = stepStore(table)
    const step = modelStep({ text: 'x'.repeat(4_000) })
    await steps.append({ executionId: id, owner: OWNER, step, progress: NO_PROGRESS })
    const result = { callId: 'call', value: payload, startedAt: AT, finishedAt: AT } as never
    await steps.appendResult({ executionId: id, number: 1, result })
    const cache = cacheStore(table)
    await cache.reserve({ key: id, executionId: id, replaces: null, now: Date.now() })
    await cache.store({ key: id, executionId: id, output: payload, expiresAt: null })

    const own = [...(await itemsIn(table, executionKey(id).pk)), ...(await itemsIn(table, cacheKey(id).pk))]
    const texts = own.flatMap(({ input, output, feedback, review, logs, content }) =>
      [input, output, feedback, review, logs, content].filter((one) => one !== undefined),
    )
    expect(texts).toHaveLength(8)
    for (const text of texts) expect(text).toMatchObject({ gzip: expect.any(Uint8Array) })

    expect(await store.get({ id, organizationId })).toMatchObject({ feedback, output: payload })
    expect(await steps.read({ executionId: id })).toEqual([{ step, results: new Map([['call', result]]) }])
    expect((await cache.get({ key: id, now: Date.now() }))?.output).toEqual(payload)
    const scope = { organizationId, agentId: execution.agentId, tenantId: null }
    const [example] = await store.getExamples({ ...scope, ids: [id] })
    expect(example).toMatchObject({ input: payload, output: payload, isCorrected: true })
  })

  it('that were stored as text are read', async () => {
    const execution = await finished(padded(100), '', { input: padded(100) })
    const [input, output] = [payloadOf(4_000), payloadOf(15_000)]
    const set = {
      input: { json: JSON.stringify(input) },
      output: { json: JSON.stringify(output) },
      logs: 'a line\n'.repeat(1_000),
      error: JSON.stringify({ code: 'AgentFailed', message: 'x'.repeat(4_000) }),
    }
    await table.update(executionKey(execution.id), { set })
    const read = await store.get(execution)
    expect(read).toMatchObject({ input, output, logs: set.logs, error: JSON.parse(set.error) })
  })

  it('fit the item together, at the largest size of each that is stored in it', async () => {
    const largest = random(16_000)
    const inputAdaptations = [{ path: '/a', kind: 'renamed' as const, message: random(15_900).text }]
    const points = Array.from({ length: 16_000 }, () => 0x3400 + (randomBytes(2).readUInt16BE() % 0x6000))
    const logs = String.fromCodePoint(...points)
    const execution = await finished(largest, logs, { input: largest, inputAdaptations })
    const feedback = { rating: 1 as const, correctedOutput: null, note: random(15_800).text, updatedAt: AT }
    for (const isReview of [true, false]) await give(execution, feedback, isReview)
    const expected = { input: largest, output: largest, logs, feedback, inputAdaptations }
    expect(await store.get(execution)).toMatchObject(expected)
  })

  it('that are damaged are an error with the key of their item, which does not keep the run from ending', async () => {
    const execution = anExecution({ input: payloadOf(4_000) })
    const { id, organizationId } = execution
    await store.create({ execution })
    const damaged = { gzip: randomBytes(900), bytes: 4_000 }
    await table.update(executionKey(id), { set: { input: damaged } })
    await expect(store.get(execution)).rejects.toThrow(`EXEC#${id} RECORD`)
    await expect(store.claim({ id, lease, now: Date.now() })).rejects.toThrow(CorruptItem)
    // What lists and summaries read does not contain it.
    expect(await store.getSummary(execution)).toMatchObject({ id, status: 'IN_PROGRESS' })
    const page = { organizationId, agentId: null, status: null, tenantId: null, limit: 10, after: null }
    await expect.poll(async () => (await store.listSummaries(page)).items.length).toBe(1)
    const error = { code: 'AttemptsExhausted', message: '' } as const
    const end = { organizationId, id, error, finishedAt: AT, progress: null } as never
    await expect(store.end(end)).rejects.toThrow(CorruptItem)
    expect(await store.getStatus(execution)).toBe('ERROR')
    expect(await store.end(end)).toBeNull()

    const steps = stepStore(table)
    await steps.append({ executionId: id, owner: OWNER, step: modelStep(), progress: NO_PROGRESS })
    await table.update(stepKey(id, 1), { set: { content: damaged } })
    await expect(steps.read({ executionId: id })).rejects.toThrow(`EXEC#${id} STEP#00001`)
    expect(await store.delete({ organizationId, id, now: Date.now() })).toBe('deleted')
  })
})

const hash = fc.stringMatching(/^[0-9a-f]{16}$/)

const key = fc.record(
  {
    model: fc.constantFrom('openai/a', 'openai/b'),
    answerMode: fc.constantFrom('tool', 'forced-tool', 'structured', 'json', 'other'),
    instructions: hash,
    tools: hash,
    messages: fc.oneof({ weight: 9, arbitrary: hash }, { weight: 1, arbitrary: fc.string() }),
    truncatedAfter: fc.oneof(fc.nat(), fc.constantFrom(2 ** 32 - 1, 2 ** 32, -1, 0.5)),
    declarations: hash,
  },
  { requiredKeys: ['model', 'answerMode', 'instructions', 'tools', 'messages'] },
)

const times = { startedAt: '2026-11-22T08:00:00.000Z', finishedAt: '2026-11-22T08:00:01.000Z' }

const stepWith = (request: NonNullable<ModelStep['request']>): Step =>
  modelStep({ model: 'openai/a', request, ...times })

const usual = {
  model: 'openai/a',
  answerMode: 'tool',
  instructions: '0123456789abcdef',
  tools: 'fedcba9876543210',
  messages: '00000000ffffffff',
}

describe('packRequest', () => {
  it('loses nothing of any key', () => {
    fc.assert(
      fc.property(key, (request) => {
        const step = stepWith(request)
        const { content, attributes } = packRequest(step)
        expect(unpackRequest(structuredClone(content), attributes)).toEqual(step)
      }),
      { numRuns: propertyRuns(500) },
    )
  })

  it('takes 25 bytes, and leaves other steps as they are', () => {
    const { content, attributes } = packRequest(stepWith(usual))
    expect(content).not.toHaveProperty('request')
    expect(attributes.request).toHaveLength(25)
    const code: Step = { kind: 'CODE', number: 1, name: 'a', value: 1, ...times }
    expect(packRequest(code)).toEqual({ content: code, attributes: {} })
  })
})

describe.each(EMULATORS)('a step with a key on %s', (emulator) => {
  it('is read and listed as it was written, with less than 40 bytes more', async () => {
    const table = tableOn(emulator)
    const store = stepStore(table)
    const executionId = system.newId()
    const step = stepWith({ ...usual, truncatedAfter: 7, declarations: usual.tools })
    await store.append({ executionId, owner: 'me', step, progress: NO_PROGRESS })
    expect(await store.read({ executionId })).toEqual([{ step, results: new Map() }])
    const { items } = await store.list({ executionId, limit: 1, after: null, maxBytes: 1e6 })
    expect(items).toEqual([{ step, results: new Map() }])
    const item = await table.get(stepKey(executionId, 1), { consistent: true })
    expect(JSON.stringify(item?.content)).not.toContain(usual.instructions)
    expect(item?.request).toHaveLength(37)
  })
})
