import { describe, expect, it } from 'vitest'
import { parseYaml } from '../../lib/agents/document/yaml-file.ts'
import { MAX_SCHEDULES } from '../../lib/core/schedule.ts'
import { medianCpuTimes } from '../support/processes/processes.ts'
import { checkFrontMatter } from './check-front-matter.ts'

/** The front matter has six lines before the schedules. */
const check = (schedules: string, hasCode = false) =>
  checkFrontMatter(
    `title: Report
input: { day: { type: string, enum: [today, yesterday], default: today }, n: { type: integer, required: false } }
output: { text: { type: string } }
code: ${hasCode}
schedules:
${schedules}`,
    { hasCode, body: hasCode ? '' : 'Report.' },
  )

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

  const daily = 'cron: "@daily"'
  const wrongInput = `    ${daily}\n    input: { n: five }`
  it.each<[string, string]>([
    ['  a: { cron: "0 28 * * *" }', '7 schedules.a.cron: is wrong: the hour "28" is invalid.'],
    [
      `  a: { ${daily} }\n  b:\n    timezone: Berlin\n    cron: "* * * * *"`,
      '9 schedules.b.timezone: must be the name of an IANA time zone',
    ],
    ['  a: { timezone: UTC }', '7 schedules.a.cron: is required and must be a string'],
    ['  a: null', '7 schedules.a: must be an object, but is empty'],
    ['  7', '6 schedules: must map names to schedules, such as nightly: { cron: "@daily" }, or be a list'],
    [`  a b: { ${daily} }`, '7 schedules.a b: is no name of a schedule: it must have 1 to 64 letters'],
    [`  - { ${daily} }`, '7 schedules.0.name: is required and must be a string'],
    [
      `  - { name: a, ${daily} }\n  - { name: a, ${daily} }`,
      '8 schedules.1.name: is the name of another schedule, too',
    ],
    [
      `  a: { ${daily} }\n  b:\n${wrongInput}`,
      '10 schedules.b.input: does not match the input schema of the agent: /n must be an integer',
    ],
    [`  - { name: a, ${daily} }\n  - name: b\n${wrongInput}`, '10 schedules.b.input: does not match'],
    ...[
      ['enabled: false', 'enabled: unknown field'],
      ['catchupSeconds: 5', 'catchupSeconds: unknown field; did you mean "catchUpSeconds"?'],
      ['options: { execMode: async }', 'options.execMode: unknown field; allowed fields: enforceInputSchema'],
      ['options: { maxAgentSteps: 501 }', 'options.maxAgentSteps: must be at most 500'],
      ['tenantId: "a\\ud800"', 'tenantId: must have 1 to 128 characters and no control characters'],
      ['overlap: queue', 'overlap: must be one of skip, allow, not "queue"'],
      ['catchUpSeconds: 604801', 'catchUpSeconds: must be at most 604800'],
    ].map(([field, problem]): [string, string] => [
      `  a: { ${daily}, ${field} }`,
      `7 schedules.a.${problem}`,
    ]),
  ])('%j is wrong at its line', async (schedules, problem) => {
    expect((await check(schedules)).problems).toEqual([expect.stringContaining(problem)])
  })

  it('of a code agent choose no model', async () => {
    const { problems } = await check(
      `  a: { ${daily}, options: { maxTokens: 5, model: openai/gpt-5 } }`,
      true,
    )
    expect(problems).toEqual([
      '7 schedules.a.options.maxTokens: must be omitted: a code agent has no model',
      '7 schedules.a.options.model: must be omitted: a code agent has no model',
    ])
  })

  it(`are ${MAX_SCHEDULES} at most`, async () => {
    const lines = Array.from({ length: MAX_SCHEDULES + 1 }, (_, n) => `  s${n}: { cron: "@daily" }`)
    expect((await check(lines.join('\n'))).problems).toEqual(['6 schedules: must have at most 100 schedules'])
    expect((await check(lines.slice(1).join('\n'))).problems).toEqual([])
  })
})

const keys = (count: number) => Array.from({ length: count }, (_, n) => `key${n}: ${n}`).join('\n')

describe('parseYaml', () => {
  it('names keys that a map has twice, also inside', () => {
    expect(parseYaml('a: 1\nb: { c: 1, c: 2 }\n1: x\na: 2\n"1": y').problems).toEqual([
      { line: 2, column: 12, message: 'invalid YAML: Map keys must be unique' },
      { line: 4, column: 1, message: 'invalid YAML: Map keys must be unique' },
      { line: 5, column: 1, message: 'invalid YAML: Map keys must be unique' },
    ])
    expect(parseYaml('a: { b: 1 }\nc: { b: 1 }').problems).toEqual([])
  })

  it.each([
    ['description: a: b', 14, 'the value contains ": ", which begins a map; quote the value'],
    ['null: 1', 1, 'a key is null, which is no text; quote it: "null"'],
    ['a: 01234', 4, '01234 is a number, which loses its zeros; quote it ("01234"), or write 1234'],
    ['a: -007', 4, '-007 is a number, which loses its zeros; quote it ("-007"), or write -7'],
    ['012: x', 1, '012 is a number, which loses its zeros; quote it ("012"), or write 12'],
  ])('says what to do about %s', (text, column, message) => {
    expect(parseYaml(text).problems).toEqual([{ line: 1, column, message: `invalid YAML: ${message}` }])
  })

  it.each(['a: 0', 'a: 0.5', 'a: "01234"', "'null': 1", 'a: 0x1F', 'a: 1e05', 'a: 2026-01-02'])(
    'accepts %s',
    (text) => expect(parseYaml(text).problems).toEqual([]),
  )

  it('takes 10,000 keys at most', () => {
    expect(parseYaml(keys(10_000)).problems).toEqual([])
    const message = 'invalid YAML: there can be 10000 keys'
    expect(parseYaml(keys(10_001)).problems).toEqual([{ line: 10_001, column: 1, message }])
  })

  it('takes linear time for many keys', () => {
    const [few = 0, many = 0] = medianCpuTimes(
      [1_000, 8_000],
      (count) => {
        const text = keys(count)
        return () => parseYaml(text)
      },
      3,
    )
    // Eight times as many keys took 50 times as long when each was compared with all others.
    expect(many / few).toBeLessThan(24)
  })

  it('a document with thousands of mistakes has the first 100 in its answer', async () => {
    expect((await checkFrontMatter(keys(8_000), { hasCode: true })).problems).toHaveLength(100)
  })
})
