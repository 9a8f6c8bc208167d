import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleFunctions } from '../../../infra/bundling/bundle.ts'
import budget from '../../../infra/bundling/bundle-budget.json' with { type: 'json' }
import { budgetProblems } from '../../../infra/bundling/bundle-budget.ts'
import { type BundleReport, reportBundles } from '../../../infra/bundling/bundle-report.ts'
import { FUNCTION_NAMES, RUNS_AGENTS } from '../../../infra/functions/function-settings.ts'

/** Needed for models, their tools and what they learn from: heavy, and only where agents run. */
const FOR_MODELS = /^(?:@ai-sdk\/.+|@modelcontextprotocol\/.+|minisearch)$/

const folder = mkdtempSync(join(tmpdir(), 'aes-budget-'))
let reports: BundleReport[]

beforeAll(async () => {
  reports = reportBundles(folder, await bundleFunctions(folder))
})
afterAll(() => rmSync(folder, { recursive: true }))

const reportOf = (name: string) => {
  const report = reports.find((each) => each.name === name)
  if (!report) throw new Error(`There is no report of ${name}.`)
  return report
}
const forModels = (packages: string[]) => packages.filter((name) => FOR_MODELS.test(name))

describe('the bundles', () => {
  it('are within their budget, and their budget is tight', () => {
    const bytes = Object.fromEntries(reports.map(({ name, atStart }) => [name, atStart]))
    expect(budgetProblems(bytes, budget)).toEqual([])
  })

  it.each(FUNCTION_NAMES)('are reported in the sizes that they have on the disk: %s', (name) => {
    const sizes = readdirSync(join(folder, name)).map((file) => statSync(join(folder, name, file)).size)
    const { index, atStart, all } = reportOf(name)
    expect([index, all]).toEqual([
      statSync(join(folder, name, 'index.mjs')).size,
      sizes.reduce((total, size) => total + size, 0),
    ])
    expect(atStart).toBeGreaterThanOrEqual(index)
    expect(atStart < all).toBe(RUNS_AGENTS.includes(name))
  })

  it.each(FUNCTION_NAMES.filter((name) => !RUNS_AGENTS.includes(name)))('have no model SDK in %s', (name) => {
    const { packagesAtStart, packagesLater } = reportOf(name)
    expect(packagesAtStart).toContain('@aws-sdk/client-dynamodb')
    expect([forModels(packagesAtStart), packagesLater]).toEqual([[], []])
  })

  it.each(FUNCTION_NAMES)('have no schema in %s but that of a body', (name) => {
    // Schemas of records are for OpenAPI, and parameters are checked without one.
    expect(reportOf(name).packagesAtStart.includes('zod')).toBe(name === 'give-feedback')
  })

  it.each(RUNS_AGENTS)('have the model SDK in %s only in what loads when an agent needs it', (name) => {
    const { packagesAtStart, packagesLater } = reportOf(name)
    expect(forModels(packagesAtStart)).toEqual([])
    expect(forModels(packagesLater)).toEqual(
      expect.arrayContaining([
        '@ai-sdk/amazon-bedrock',
        '@ai-sdk/anthropic',
        '@ai-sdk/openai',
        '@ai-sdk/openai-compatible',
        '@modelcontextprotocol/sdk',
        'minisearch',
      ]),
    )
    expect(packagesLater).not.toContain('ai')
  })
})

describe('budgetProblems', () => {
  it('has none with a size up to the budget, and a budget up to 15 % above the size', () => {
    expect(budgetProblems({ full: 100_000, slack: 100_000 }, { full: 100, slack: 115 })).toEqual([])
  })

  it('names the size and the budget of what is over it', () => {
    const problem = 'big loads 100.001 KB at start; its budget is 100 KB.'
    expect(budgetProblems({ big: 100_001 }, { big: 100 })).toEqual([problem])
  })

  it('refuses a budget that is more than 15 % above the size', () => {
    const problem =
      'small loads 100 KB at start; its budget of 116 KB is more than 15 % above that: tighten it.'
    expect(budgetProblems({ small: 100_000 }, { small: 116 })).toEqual([problem])
  })

  it('refuses a function without a budget, and a budget without a function', () => {
    expect(budgetProblems({ young: 1000 }, { gone: 1 })).toEqual([
      'young loads 1 KB at start, and has no budget.',
      'gone has a budget, but is no function.',
    ])
  })
})
