import { describe, expect, it } from 'vitest'
import { type Checked, findAttention } from '../../../console/overview/attention.ts'
import { sampleInput } from '../../../console/overview/sample-input.ts'
import type { ExecutionSummaryRecord } from '../../../lib/contract/records/execution.ts'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import {
  AGENT_ID,
  aBatch,
  aLimitsRecord,
  anAgentRecord,
  anApproval,
  anExecutionRecord,
  aUsageRow,
  aWebhook,
} from '../../browser/stub/records.ts'

const NOW = Date.parse('2026-11-20T12:00:00Z')
const agent = anAgentRecord()
const agents = new Map([[AGENT_ID, agent]])
const find = (checked: Partial<Checked>, known = agents) =>
  findAttention(checked, known, NOW).map(({ parts, href }) => ({ text: parts.join(''), parts, href }))
const failed = (scheduleName: string) =>
  ({
    ...anExecutionRecord(1),
    documentId: AGENT_ID,
    scheduleName,
    error: { code: 'AgentFailed', message: '' },
  }) as ExecutionSummaryRecord

describe('findAttention', () => {
  it('finds nothing in what is well', () => {
    const limits = [aLimitsRecord('acme', { maxCostUsd: { day: 10, month: null } })]
    const usage = [aUsageRow({ tenantId: 'acme', costUsd: 7.9, start: '2026-11-20T00:00:00.000Z' })]
    const approvals = [anApproval(1, { until: '2026-11-22T00:00:00Z' })]
    const batches = [aBatch(1), aBatch(2, { status: 'IN_PROGRESS', endedAt: null })]
    expect(find({ webhooks: [aWebhook()], approvals, batches, limits, usage } as never)).toEqual([])
  })

  it('has a line for the first approval that ends within a day', () => {
    const approvals = ['13:00', '12:30'].map((time, index) =>
      anApproval(index, { until: `2026-11-20T${time}:00Z`, title: `Refund ${index}?` }),
    )
    expect(find({ approvals })).toMatchObject([
      {
        text: expect.stringMatching(/ends in 30 min: Refund 1\?$/),
        href: expect.stringContaining('#/approvals?item='),
      },
    ])
  })

  it('has a line for each schedule that fails, with its last error', () => {
    const found = find({ scheduled: [failed('nightly'), failed('nightly'), failed('hourly')] })
    expect(found.map(({ text }) => text)).toEqual([
      expect.stringMatching(/nightly .*: 2 failures since yesterday, last AgentFailed$/),
      expect.stringMatching(/hourly .*: 1 failure /),
    ])
    expect(found[0]?.href).toBe(`#/agents/${agent.slug}/schedules/nightly`)
  })

  it('has tenants at what they are warned of, in the day or else the month', () => {
    const usage = [
      aUsageRow({ tenantId: 'acme', costUsd: 8, start: '2026-11-20T00:00:00.000Z' }),
      aUsageRow({ tenantId: 'globex', costUsd: 60, start: '2026-11-02T00:00:00.000Z' }),
    ] as Checked['usage']
    const limits = [
      aLimitsRecord('acme', { maxCostUsd: { day: 10, month: null }, warnAt: 0.8 }),
      aLimitsRecord('globex', { maxCostUsd: { day: 10, month: 100 }, warnAt: 0.6 }),
      aLimitsRecord('initech', { maxCostUsd: { day: null, month: null } }),
    ] as Checked['limits']
    expect(find({ limits, usage }).map(({ text }) => text)).toEqual([
      'Tenant acme has spent $8.00 of $10.00 this day',
      'Tenant globex has spent $60.00 of $100.00 this month',
    ])
  })

  it('has webhooks that fail or were disabled, batches that nobody continues, ended rollouts and outages', () => {
    const batch = aBatch(1, {
      ...{ status: 'IN_PROGRESS', endedAt: null, waiting: 3 },
      counts: { IN_PROGRESS: 3, SUCCESS: 0, ERROR: 0 },
      waitingFor: [{ kind: 'approval', name: 'refund', lines: 3 }],
    })
    const ended = { versionId: 'v', at: '2026-11-20T11:00:00Z' }
    const found = find(
      {
        webhooks: [aWebhook({ failingSince: '2026-11-20T09:00:00Z' }), aWebhook({ disabledReason: 'gone' })],
        batches: [batch, { ...batch, waiting: 2 }],
        recent: [
          aUsageRow({ start: '2026-11-20T11:00:00Z', agentId: AGENT_ID, errors: { ModelUnavailable: 1 } }),
        ],
      },
      new Map([[AGENT_ID, anAgentRecord({ abortedRollout: ended })]]),
    )
    expect(found.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^No model was available to 1 run since .* of /),
      expect.stringMatching(/^Webhook .* fails since /),
      expect.stringMatching(/^Webhook .* was disabled /),
      expect.stringMatching(/all of its 3 lines in progress wait$/),
      expect.stringMatching(/^The rollout of .* was ended/),
    ])
  })

  const hourly = (
    versionId: string,
    runs: number,
    errors: Record<string, number>,
    start = '2026-11-20T10:00:00Z',
  ) => aUsageRow({ agentId: AGENT_ID, versionId, runs, errors, start })

  it('has dead letters of the last day, and no outage that is over', () => {
    const recent = [
      hourly('v1', 9, { AttemptsExhausted: 2, ModelUnavailable: 4 }, '2026-11-20T01:00:00Z'),
      hourly('v2', 9, { AttemptsExhausted: 1 }),
    ]
    expect(find({ recent })).toMatchObject([
      { text: `All attempts at 3 runs of ${agent.title} have failed since yesterday` },
    ])
  })

  it.each([
    ['loses', hourly('new', 20, { AgentFailed: 3 }), 1],
    ['has too few runs to tell', hourly('new', 19, { AgentFailed: 19 }), 0],
    ['fails as often as the current one', hourly('new', 20, { AgentFailed: 1 }), 0],
    ['has runs that somebody cancelled', hourly('new', 20, { Cancelled: 20 }), 0],
    ['failed before the rollout', hourly('new', 20, { AgentFailed: 20 }, '2026-11-20T07:00:00Z'), 0],
  ])('has a rollout whose version %s: %#', (_, row, count) => {
    const rollout = { versionId: 'new', percent: 10, key: 'tenant', startedAt: '2026-11-20T09:30:00Z' }
    const known = new Map([[AGENT_ID, anAgentRecord({ rollout, currentVersionId: 'old' } as never)]])
    const found = find({ recent: [row, hourly('old', 100, { AgentFailed: 3 })] }, known)
    expect(found.length).toBe(count)
    if (count > 0) expect(found[0]?.text).toMatch(/loses: 15% of its 20 runs failed, .* 3%$/)
  })

  it('keeps names apart from the text around them, whatever their direction', () => {
    const [found] = find({ scheduled: [failed('مهمة')] })
    expect(found?.parts.filter((_, index) => index % 2 === 1)).toContain('مهمة')
  })
})

const propertyOf = (schema: JsonObject) => sampleInput({ value: schema })?.value

describe('sampleInput', () => {
  it('has every field that is required or has a default, and no other', () => {
    expect(
      sampleInput({
        text: { type: 'string' },
        note: { type: 'string', required: false },
        tags: { type: 'array', items: { type: 'string' } },
        address: { type: 'object', properties: { city: { type: 'string' }, zip: { type: 'string' } } },
      }),
    ).toMatchObject({ text: expect.stringContaining('ada@example.com'), tags: [] })
    expect(sampleInput({ note: { type: 'string', required: false } })).toEqual({})
    expect(sampleInput({})).toEqual({})
  })

  it.each([
    [{ type: 'string', default: 'chat' }, 'chat'],
    [{ type: 'string', enum: ['low', 'high'] }, 'low'],
    [{ type: 'string', examples: ['A-1'] }, 'A-1'],
    [{ type: 'string', format: 'email' }, 'ada@example.com'],
    [{ type: 'string', maxLength: 5 }, 'Write'],
    [{ type: 'integer', minimum: 400 }, 400],
    [{ type: 'number', maximum: 0 }, 0],
    [{ type: 'integer', exclusiveMinimum: 3, maximum: 9 }, 4],
    [{ type: 'integer', multipleOf: 5, minimum: 7 }, 10],
    [{ type: 'boolean' }, true],
    [{ type: 'array', items: { type: 'integer' }, minItems: 2 }, [1, 1]],
  ] as [JsonObject, unknown][])('of %j is %j', (schema, value) => {
    expect(propertyOf(schema)).toEqual(value)
  })

  it.each([
    { type: 'string', pattern: '^[A-Z]-\\d+$' },
    { type: 'file', mediaTypes: ['application/pdf'] },
    { type: 'integer', minimum: 3, maximum: 2 },
  ] as JsonObject[])('is null if only a person can choose: %j', (schema) => {
    expect(sampleInput({ value: schema })).toBeNull()
  })
})
