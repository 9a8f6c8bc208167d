import { describe, expect, it } from 'vitest'
import {
  applicableOptions,
  findOptionProblems,
  NO_OPTIONS,
  optionsOfRun,
  toParameters,
} from '../../../console/try/run-options.ts'
import { runParameters } from '../../../lib/contract/parameters/runs.ts'
import type { ExecutionRecord } from '../../../lib/contract/records/execution.ts'
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
