import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseCases } from '../../../authoring/cases/case-file.ts'
import { toCaseName, toTestCase } from '../../../console/try/to-test-case.ts'
import { parseStoredJson } from '../../../lib/core/json/parse-json.ts'
import { HOSTILE_STRINGS } from '../../browser/stub/hostile-strings.ts'

type Run = Parameters<typeof toTestCase>[0]['run']

const aRun = (overrides: Partial<Run> = {}): Run => ({
  id: '01a20000-0000-7000-8000-000000000001',
  output: { answer: 'yes' },
  error: null,
  feedback: null,
  ...overrides,
})

/** What `npx agent-execution test` reads. */
function readCase(params: Partial<Parameters<typeof toTestCase>[0]>) {
  const text = toTestCase({
    name: 'a case',
    input: '{}',
    run: aRun(),
    steps: [],
    expected: 'output',
    ...params,
  })
  const { cases, problems } = parseCases(text, 'cases.yaml')
  expect(problems, text).toEqual([])
  return cases[0]
}

/** What YAML reads as something else than a text, unless it is quoted. */
const SPECIAL = [
  'a # b§# comment§a: b§- item§--- a§%YAML 1.1§? key§{a: b}§[1, 2]§&anchor§*alias§!!str tag§| block§> folded§@at',
  '`tick§it\'s§"quoted"§back\\slash§42§-0§1e3§0x1F§0o17§1_000§12:30:45§2026-01-31§true§False§yes§No§on§null§~',
  '.nan§.inf§<<§=§ §§ leading§trailing §\u00a0nbsp\u00a0§\u202eevil§😀 emoji 👩‍👩‍👧§\ud800 lone§\ufffe\uffff§\ufeffbom',
].flatMap((texts) => texts.split('§'))
const LINES = ['three\n\n\nlines\n\n', 'a\n  indented', 'a\n\ttab', 'a\r\nb', '---\n...', 'k: v\nl: w']
const TEXTS = [...SPECIAL, ...LINES, ...HOSTILE_STRINGS, 'x'.repeat(3_000)]

describe('toTestCase', () => {
  it.each(TEXTS)('keeps %j as a value, in a list, as a name and as output', (text) => {
    const input = { text, list: [text, [text], { text }], [text]: { [text]: [text] } }
    const read = readCase({ input: JSON.stringify(input), run: aRun({ output: input }) })
    expect(read?.input).toEqual(input)
    expect(read?.expect.equals).toEqual(input)
    expect(readCase({ name: text })?.name).toBe(toCaseName(text) || `execution ${aRun().id}`)
  })

  it('keeps any JSON', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({
        unit: fc.constantFrom('\n', ' ', '#', ':', '-', 'a', '"', "'", '\\', '\t', '{', '|', '\u2028'),
      }),
    )
    const { object } = fc.letrec((tie) => ({
      object: fc.dictionary(text, tie('value'), { maxKeys: 4, noNullPrototype: true }),
      value: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value'), { maxLength: 3 }),
        tie('object'),
      ),
    }))
    fc.assert(
      fc.property(object, (value) => {
        const json = JSON.stringify(value)
        expect(JSON.stringify(readCase({ input: json })?.input)).toBe(json)
      }),
      { numRuns: 300 },
    )
  })

  it('keeps every digit of a number', () => {
    const input =
      '{"a":123456789012345678901234567890,"b":1.10,"c":-0,"d":1E5,"e":0.1000000000000000055511151231257827}'
    const read = readCase({ input })
    expect(read?.input).toEqual(parseStoredJson(input))
    expect(Object.is(read?.input.c, -0)).toBe(true)
  })

  it('has the nesting that an input may have', () => {
    const input = `{"a":${'['.repeat(95)}${']'.repeat(95)}}`
    expect(JSON.stringify(readCase({ input })?.input)).toBe(input)
  })

  it('expects what the run did, or the correction of its feedback', () => {
    expect(readCase({})?.expect).toEqual({ equals: { answer: 'yes' } })
    expect(readCase({ expected: 'success' })?.expect).toEqual({})
    const failed = aRun({ output: null, error: { code: 'AgentFailed', message: 'No.' } })
    expect(readCase({ run: failed })?.expect).toEqual({ error: 'AgentFailed' })
    const cancelled = aRun({ output: null, error: { code: 'Cancelled', message: 'No.' } })
    expect(readCase({ run: cancelled })?.expect).toEqual({})
    const feedback = { rating: -1 as const, correctedOutput: { answer: 'no' }, note: null, updatedAt: '' }
    expect(readCase({ run: aRun({ feedback }) })?.expect).toEqual({ equals: { answer: 'no' } })
  })

  it('allows the failures of tools that failed, and repeats decisions', () => {
    const call = (name: string, others: object) => ({ id: name, name, input: {}, ...others })
    const approval = { id: 'x', until: '', decision: 'approve' as const, note: 'Half: #1', input: { usd: 1 } }
    const steps = [
      { toolCalls: [call('get', { error: 'Not found' }), call('refund', { approval })] },
      { toolCalls: [call('refund', { approval: { id: 'y', until: '', decision: 'reject', note: null } })] },
    ]
    expect(readCase({ steps })).toMatchObject({
      expect: { equals: { answer: 'yes' }, tools: { get: 'may-fail' } },
      approvals: {
        refund: [{ decision: 'approve', note: 'Half: #1', input: { usd: 1 } }, { decision: 'reject' }],
      },
    })
  })

  it('is readable', () => {
    const input =
      '{"orderId":"A-31","question":"Where is it?","lines":"one\\n  two","items":[{"count":1.50},[]],"o":{}}'
    expect(toTestCase({ name: 'sends a refund', input, run: aRun(), steps: [], expected: 'output' })).toBe(
      `- name: sends a refund
  input:
    orderId: A-31
    question: "Where is it?"
    lines: |-
      one
        two
    items:
      - count: 1.50
      - []
    o: {}
  expect:
    equals:
      answer: "yes"
`,
    )
  })
})
