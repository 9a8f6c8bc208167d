import { expect, it } from 'vitest'
import { limitsOf, modelSettingsOf } from '../../../console/versions/version-settings.ts'
import { aVersionWithDocument } from '../../browser/stub/records.ts'

const version = aVersionWithDocument()

it('limitsOf tells what a run may use, and where there is no limit', () => {
  const execution = {
    ...version.execution,
    ...{ timeoutSeconds: 120, maxTokens: 5_000, maxCostUsd: 0.5, useCache: true, cacheTtlSeconds: 3_600 },
    ...{ maxAgentSteps: 100, maxAgentStepsAllowed: 500 },
  }
  expect(limitsOf({ execution })).toMatchObject({
    Steps: '100, a run may ask for up to 500',
    Duration: '2 min',
    Tokens: 'at most 5,000',
    Cost: 'at most $0.50',
    Cache: 'on, for 1 h',
  })
  expect(limitsOf(version)).toMatchObject({ Steps: 'at most 10', Duration: 'no limit of its own' })
})

it('modelSettingsOf names the model and what replaces it, or the variables of a code agent', () => {
  const settings = modelSettingsOf({ ...version, fallbacks: ['a/b'], modelSettings: { temperature: 0 } })
  expect(settings).toMatchObject({
    Model: 'openai/gpt-5-mini',
    'If it is not available': 'a/b',
    Temperature: '0',
    'Must call a tool': null,
  })
  const ofCode = modelSettingsOf({ ...version, code: true, env: ['A', 'B'] })
  expect(ofCode).toEqual({ 'Environment variables': 'A, B' })
})
