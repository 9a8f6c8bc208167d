import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseCases } from '../../../authoring/cases/case-file.ts'
import {
  applicableOptions,
  findOptionProblems,
  NO_OPTIONS,
  optionsOfRun,
  toParameters,
} from '../../../console/try/run-options.ts'
import { toCaseName, toTestCase } from '../../../console/try/to-test-case.ts'
import { runParameters } from '../../../lib/contract/parameters/runs.ts'
import type { ExecutionRecord } from '../../../lib/contract/records/execution.ts'
import { parseStoredJson } from '../../../lib/core/json/parse-json.ts'
import { HOSTILE_STRINGS } from '../../browser/stub/hostile-strings.ts'
import { anExecutionRecord, aVersionRecord } from '../../browser/stub/records.ts'

const isAccepted = (options: Partial<typeof NO_OPTIONS>): boolean => {
  const query = Object.entries(toParameters({ ...NO_OPTIONS, ...options })).map(([name, value]) => [
    name,
    `${value}`,
  ])
  return runParameters.safeParse(Object.fromEntries(query)).success
}

describe('toParameters', () => {
  it('leaves out what is not given', () => expect(toParameters(NO_OPTIONS)).toEqual({}))

  it('gives every parameter its type', () => {
    expect(
      toParameters({
        version: '01a203b3-0000-7000-8000-000000000000',
        tenantId: ' a ',
        model: ' openai/gpt-5 ',
        reasoning: 'high',
        enforceInputSchema: 'true',
        useCache: 'false',
        useDynamicLearning: 'true',
        maxAgentSteps: ' 7 ',
        maxTokens: '1000',
        maxCostUsd: '0.5',
      }),
    ).toEqual({
      version: '01a203b3-0000-7000-8000-000000000000',
      tenantId: ' a ',
      model: 'openai/gpt-5:high',
      enforceInputSchema: true,
      useCache: false,
      useDynamicLearning: true,
      maxAgentSteps: 7,
      maxTokens: 1000,
      maxCostUsd: 0.5,
    })
  })
})

describe('findOptionProblems', () => {
  it.each([
    [{ maxAgentSteps: '501' }],
    [{ maxAgentSteps: '1.5' }],
    [{ maxTokens: '1000000001' }],
    [{ maxCostUsd: '0' }],
    [{ maxCostUsd: '1000001' }],
    [{ tenantId: 'x'.repeat(129) }],
  ])('finds what the service rejects: %j', (options) => {
    expect(Object.keys(findOptionProblems({ ...NO_OPTIONS, ...options }))).toEqual(Object.keys(options))
    expect(isAccepted(options)).toBe(false)
  })

  it('finds more steps than the version allows, and a reasoning level without a model', () => {
    const options = { ...NO_OPTIONS, maxAgentSteps: '11' }
    expect(findOptionProblems(options, 10)).toEqual({ maxAgentSteps: 'Enter a whole number from 1 to 10.' })
    expect(findOptionProblems(options, 11)).toEqual({})
    expect(Object.keys(findOptionProblems({ ...NO_OPTIONS, reasoning: 'high' }))).toEqual(['model'])
  })

  it.each([
    [{ maxAgentSteps: '500' }],
    [{ maxTokens: '1000000000' }],
    [{ maxCostUsd: '1000000' }],
    [{ tenantId: 'x'.repeat(128) }],
  ])('accepts what the service accepts: %j', (options) => {
    expect(findOptionProblems({ ...NO_OPTIONS, ...options })).toEqual({})
    expect(isAccepted(options)).toBe(true)
  })
})

describe('applicableOptions', () => {
  const options = {
    ...NO_OPTIONS,
    model: 'openai/gpt-5',
    maxCostUsd: '1',
    useCache: 'true' as const,
    tenantId: 't',
  }

  it('leaves out what a code agent does not have', () =>
    expect(toParameters(applicableOptions(options, { codeHash: 'a'.repeat(64) }))).toEqual({
      useCache: true,
      tenantId: 't',
    }))

  it('keeps everything for a model agent, and for a version that is gone', () => {
    expect(applicableOptions(options, { codeHash: null })).toBe(options)
    expect(applicableOptions(options, undefined)).toBe(options)
  })
})

describe('optionsOfRun', () => {
  const version = aVersionRecord({ useDynamicLearning: true })
  const requested = (requestedOptions: object, overrides: Partial<ExecutionRecord> = {}) =>
    optionsOfRun(
      anExecutionRecord(1, { requestedOptions, ...overrides } as Partial<ExecutionRecord>),
      version,
      version.id,
    )

  it('has nothing for a run that had none', () =>
    expect(requested({ useCache: false, useDynamicLearning: true })).toEqual(NO_OPTIONS))

  it('has what the request chose', () => {
    const chosen = {
      ...{ model: 'ollama/llama3:8b:high', maxAgentSteps: 7, maxTokens: 1_000, maxCostUsd: 0.000_001 },
      ...{ useCache: true, useDynamicLearning: false },
    }
    const options = requested(chosen, { tenantId: 'acme' })
    expect(toParameters(options)).toEqual({ ...chosen, tenantId: 'acme' })
    expect(options.model).toBe('ollama/llama3:8b')
    expect(requested({ model: options.model })).toMatchObject({ model: options.model, reasoning: '' })
    expect(findOptionProblems(options)).toEqual({})
  })

  it('names the version only if it is not the current one, and still exists', () => {
    const run = anExecutionRecord(1)
    expect(optionsOfRun(run, version, 'another').version).toBe(version.id)
    expect(optionsOfRun(run, undefined, 'another').version).toBe('')
  })

  it('does with a service that does not tell the options', () =>
    expect(optionsOfRun(anExecutionRecord(1, { tenantId: 'a' }), version, version.id)).toEqual({
      ...NO_OPTIONS,
      tenantId: 'a',
    }))
})

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
