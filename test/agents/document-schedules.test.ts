import { describe, expect, it } from 'vitest'
import { checkDocument } from '../../lib/agents/document/check-document.ts'
import { MAX_SCHEDULES } from '../../lib/core/schedule.ts'

/** The front matter has six lines before the schedules. */
const check = (schedules: string, code = false) =>
  checkDocument(
    `---
title: Report
input: { day: { type: string, enum: [today, yesterday], default: today }, n: { type: integer, required: false } }
output: { text: { type: string } }
code: ${code}
schedules:
${schedules}
---
${code ? '' : 'Report.'}`,
    { defaultSlug: 'report', hasCode: code, withCode: 'there is code', withoutCode: 'there is none' },
  )

const problemsOf = async (schedules: string, code?: boolean) =>
  (await check(schedules, code)).problems.map(({ line, field, message }) => `${line} ${field}: ${message}`)

const DEFAULTS = {
  timezone: 'UTC',
  input: {},
  tenantId: null,
  options: {},
  overlap: 'skip',
  catchUpSeconds: 3_600,
}

describe('schedules of a document', () => {
  it('are a map by name or a list, with defaults', async () => {
    const map = await check(
      '  daily: { cron: "@daily" }\n  morning:\n    cron: 0 8 * * MON-FRI\n    input: { n: "5" }',
    )
    const list = await check(
      '  - { name: daily, cron: "@daily" }\n  - { name: morning, cron: 0 8 * * MON-FRI, input: { n: "5" } }',
    )
    const expected = [
      { name: 'daily', cron: '@daily', ...DEFAULTS },
      { name: 'morning', cron: '0 8 * * MON-FRI', ...DEFAULTS, input: { n: '5' } },
    ]
    expect([map.problems, list.problems]).toEqual([[], []])
    expect([map.document?.schedules, list.document?.schedules]).toEqual([expected, expected])
  })

  it.each<[string, string]>([
    ['  a: { cron: "0 28 * * *" }', '7 schedules.a.cron: is wrong: the hour "28" is invalid.'],
    [
      '  a: { cron: "@daily" }\n  b:\n    timezone: Berlin\n    cron: "* * * * *"',
      '9 schedules.b.timezone: must be the name of an IANA time zone, for example Europe/Berlin or UTC; did you mean Europe/Berlin?',
    ],
    ['  a: { timezone: UTC }', '7 schedules.a.cron: is required and must be a string'],
    ['  a: null', '7 schedules.a: must be an object, but is empty'],
    ['  7', '6 schedules: must map names to schedules, such as nightly: { cron: "@daily" }, or be a list'],
    ['  a: { cron: "@daily", enabled: false }', '7 schedules.a.enabled: unknown field'],
    [
      '  a: { cron: "@daily", catchupSeconds: 5 }',
      '7 schedules.a.catchupSeconds: unknown field; did you mean "catchUpSeconds"?',
    ],
    [
      '  a: { cron: "@daily", options: { execMode: async } }',
      '7 schedules.a.options.execMode: unknown field; allowed fields: enforceInputSchema',
    ],
    [
      '  a: { cron: "@daily", options: { maxAgentSteps: 501 } }',
      '7 schedules.a.options.maxAgentSteps: must be at most 500',
    ],
    [
      '  a: { cron: "@daily", tenantId: "a\\ud800" }',
      '7 schedules.a.tenantId: must have 1 to 128 characters and no control characters',
    ],
    [
      '  a: { cron: "@daily", overlap: queue }',
      '7 schedules.a.overlap: must be one of skip, allow, not "queue"',
    ],
    [
      '  a: { cron: "@daily", catchUpSeconds: 604801 }',
      '7 schedules.a.catchUpSeconds: must be at most 604800',
    ],
    ['  a b: { cron: "@daily" }', '7 schedules.a b: is no name of a schedule: it must have 1 to 64 letters'],
    ['  - { cron: "@daily" }', '7 schedules.0.name: is required and must be a string'],
    [
      '  - { name: a, cron: "@daily" }\n  - { name: a, cron: "@daily" }',
      '8 schedules.1.name: is the name of another schedule, too',
    ],
    [
      '  a: { cron: "@daily" }\n  b:\n    cron: "@daily"\n    input: { n: five }',
      '10 schedules.b.input: does not match the input schema of the agent: /n must be an integer',
    ],
    [
      '  - { name: a, cron: "@daily" }\n  - name: b\n    cron: "@daily"\n    input: { n: five }',
      '10 schedules.b.input: does not match',
    ],
  ])('%j is wrong at its line', async (schedules, problem) => {
    const problems = await problemsOf(schedules)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(problem)
  })

  it('of a code agent choose no model', async () => {
    const problems = await problemsOf(
      '  a: { cron: "@daily", options: { maxTokens: 5, model: openai/gpt-5 } }',
      true,
    )
    expect(problems).toEqual([
      '7 schedules.a.options.maxTokens: must be omitted: a code agent has no model',
      '7 schedules.a.options.model: must be omitted: a code agent has no model',
    ])
  })

  it(`are ${MAX_SCHEDULES} at most`, async () => {
    const lines = Array.from({ length: MAX_SCHEDULES + 1 }, (_, n) => `  s${n}: { cron: "@daily" }`)
    expect(await problemsOf(lines.join('\n'))).toEqual(['6 schedules: must have at most 100 schedules'])
    expect(await problemsOf(lines.slice(1).join('\n'))).toEqual([])
  })
})
