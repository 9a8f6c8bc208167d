import { describe, expect, it } from 'vitest'
import { findOptionProblems, NO_OPTIONS, toParameters } from '../../../console/try/run-options.ts'
import { runParameters } from '../../../lib/api/parameters.ts'

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
        enforceInputSchema: true,
        useCache: 'false',
        useDynamicLearning: true,
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
    [{ maxAgentSteps: '0' }],
    [{ maxAgentSteps: '501' }],
    [{ maxAgentSteps: '1.5' }],
    [{ maxAgentSteps: 'x' }],
    [{ maxTokens: '1000000001' }],
    [{ maxCostUsd: '0' }],
    [{ maxCostUsd: '1000001' }],
    [{ tenantId: 'x'.repeat(129) }],
  ])('finds what the service rejects: %j', (options) => {
    expect(Object.keys(findOptionProblems({ ...NO_OPTIONS, ...options }))).toEqual(Object.keys(options))
    expect(isAccepted(options)).toBe(false)
  })

  it('finds more steps than the version allows', () => {
    const options = { ...NO_OPTIONS, maxAgentSteps: '11' }
    expect(findOptionProblems(options, 10)).toEqual({ maxAgentSteps: 'Enter an integer from 1 to 10.' })
    expect(findOptionProblems(options, 11)).toEqual({})
  })

  it.each([
    [{ maxAgentSteps: '500' }],
    [{ maxTokens: '1000000000' }],
    [{ maxCostUsd: '0.000001' }],
    [{ maxCostUsd: '1000000' }],
    [{ tenantId: 'x'.repeat(128) }],
  ])('accepts what the service accepts: %j', (options) => {
    expect(findOptionProblems({ ...NO_OPTIONS, ...options })).toEqual({})
    expect(isAccepted(options)).toBe(true)
  })

  it('needs a model for a reasoning level', () =>
    expect(Object.keys(findOptionProblems({ ...NO_OPTIONS, reasoning: 'high' }))).toEqual(['model']))
})
