import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ModelStep, Step } from '../../../lib/core/step.ts'
import { packRequest, unpackRequest } from '../../../lib/dynamodb/executions/request-item.ts'
import { stepStore } from '../../../lib/dynamodb/executions/step-store.ts'
import { stepKey } from '../../../lib/dynamodb/table/keys.ts'
import { system } from '../../../lib/system.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'
import { EMULATORS, tableOn } from '../../support/tables/emulators.ts'

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
const stepWith = (request: NonNullable<ModelStep['request']>): Step => ({
  kind: 'MODEL',
  number: 1,
  model: 'openai/a',
  text: '',
  calls: [],
  messages: [],
  usage: { inputTokens: 1, outputTokens: 1 },
  stopReason: 'stop',
  request,
  ...times,
})
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
    const progress = { steps: 1, usage: { inputTokens: 1, outputTokens: 1 }, model: 'openai/a' }
    await store.append({ executionId, owner: 'me', step, progress })
    expect(await store.read({ executionId })).toEqual([{ step, results: new Map() }])
    const { items } = await store.list({ executionId, limit: 1, after: null, maxBytes: 1e6 })
    expect(items).toEqual([{ step, results: new Map() }])
    const item = await table.get(stepKey(executionId, 1), { consistent: true })
    expect(JSON.stringify(item?.content)).not.toContain(usual.instructions)
    expect(item?.request).toHaveLength(37)
  })
})
