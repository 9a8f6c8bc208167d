import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type BundleReport, reportBundles } from '../../../../bench/bundles/bundle-report.ts'
import { LOADING_ENVIRONMENT } from '../../../../bench/bundles/bundle-times.ts'
import { getUpdatedPrefixes } from '../../../../infra/functions/apply-grant.ts'
import { bundleFunctions, SPLIT_FUNCTIONS } from '../../../../infra/functions/bundle.ts'
import {
  AGENT_FUNCTIONS,
  FUNCTION_NAMES,
  type FunctionName,
} from '../../../../infra/functions/function-settings.ts'
import { GRANTS } from '../../../../infra/functions/grants.ts'
import budget from './bundle-budget.json' with { type: 'json' }

/** A budget may exceed the size by this much at most: a looser one would hide growth. */
const MAX_SLACK_PERCENT = 15

/** Kilobytes (1000 bytes) that each function may load at a cold start: the contents of `bundle-budget.json`. */
type BundleBudget = Record<string, number>

/** Compares sizes with budgets. `bytes`: what each function loads at a cold start. @returns one line per violation */
function checkBudget(bytes: Record<string, number>, budget: BundleBudget): string[] {
  const names = [...new Set([...Object.keys(bytes), ...Object.keys(budget)])]
  return names.flatMap((name) => {
    const [size, max] = [bytes[name], budget[name]]
    if (size === undefined) return [`${name} has a budget, but is not a function.`]
    const load = `${name} loads ${size / 1000} KB at a cold start`
    if (max === undefined) return [`${load}, but has no budget.`]
    if (size > max * 1000) return [`${load}; its budget is ${max} KB.`]
    if (max * 100_000 > size * (100 + MAX_SLACK_PERCENT))
      return [`${load}; its budget of ${max} KB is more than ${MAX_SLACK_PERCENT} % above that: reduce it.`]
    return []
  })
}

const folder = mkdtempSync(join(tmpdir(), 'aes-bundles-'))
let reports: BundleReport[]

beforeAll(async () => {
  reports = reportBundles(folder, await bundleFunctions(folder))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Loads a bundle in a new process, as Lambda does. @returns the types of its exports */
async function loadExports(file: string): Promise<Record<string, string>> {
  const script = `globalThis.awslambda = { streamifyResponse: (handler) => handler }
    const module = await import(${JSON.stringify(pathToFileURL(file).href)})
    console.log(JSON.stringify(Object.fromEntries(Object.entries(module).map(([k, v]) => [k, typeof v]))))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    env: LOADING_ENVIRONMENT,
  })
  return JSON.parse(stdout)
}

describe('bundleFunctions', () => {
  it.each(FUNCTION_NAMES)('creates a module for %s that loads alone and exports a handler', async (name) => {
    const file = join(folder, name, 'index.mjs')
    expect(await loadExports(file)).toEqual({ handler: 'function' })
    const text = readFileSync(file, 'utf8')
    const imports = text.match(/(?:^|[;}\s])import\s*[\w{*"'][^;(]{0,80}?["'][^"']+["']/g) ?? []
    expect(imports.filter((statement) => !statement.includes('"./chunk-'))).toEqual([])
    expect(text).not.toMatch(/Dynamic require of/)
  })
})

const getReport = (name: string) => {
  const report = reports.find((each) => each.name === name)
  if (!report) throw new Error(`No report of ${name}.`)
  return report
}

/** The SDKs of models and tools: large, and only needed where models run. */
const AGENT_PACKAGES = /^(?:@ai-sdk\/.+|@modelcontextprotocol\/.+)$/
const filterAgentPackages = (packages: string[]) => packages.filter((name) => AGENT_PACKAGES.test(name))

/** Chunks, or the files of the console. */
const hasFilesForLater = (name: FunctionName) => SPLIT_FUNCTIONS.includes(name) || name === 'serve-console'

describe('the bundles', () => {
  it('are within their budgets, and the budgets are tight', () => {
    const sizes = Object.fromEntries(reports.map(({ name, atStart }) => [name, atStart]))
    expect(checkBudget(sizes, budget)).toEqual([])
  })

  it.each(FUNCTION_NAMES.filter((name) => !AGENT_FUNCTIONS.includes(name)))(
    'contain no model SDK: %s',
    (name) => {
      const { packagesAtStart, packagesLater } = getReport(name)
      expect(packagesAtStart.includes('@aws-sdk/client-dynamodb')).toBe(
        GRANTS[name].table.length > 0 || getUpdatedPrefixes(name).length > 0,
      )
      // It asks embedding models, on demand.
      const packages = name === 'give-feedback' ? packagesAtStart : [...packagesAtStart, ...packagesLater]
      expect(filterAgentPackages(packages)).toEqual([])
      expect(packagesLater.length > 0).toBe(hasFilesForLater(name))
    },
  )

  // What the two others load on demand are prices, and the schemas of records.
  const withEngine = SPLIT_FUNCTIONS.filter((name) => name !== 'manage-limits' && name !== 'list-agents')
  const ENGINES: Partial<Record<FunctionName, string>> = {
    'authorize-request': 'jose',
    'manage-webhooks': '@opentelemetry/otlp-transformer',
  }
  it.each(withEngine)('load the engine for patterns, signatures or traces on demand: %s', (name) => {
    const { packagesAtStart, packagesLater } = getReport(name)
    const engine = ENGINES[name] ?? 're2js'
    expect([packagesAtStart.includes(engine), packagesLater.includes(engine)]).toEqual([false, true])
  })

  it.each(AGENT_FUNCTIONS)('load the SDKs of models and tools on demand: %s', (name) => {
    const { packagesAtStart, packagesLater } = getReport(name)
    const ownPackages =
      name === 'serve-mcp' ? ['@modelcontextprotocol/core', '@modelcontextprotocol/server'] : []
    expect(filterAgentPackages(packagesAtStart)).toEqual(ownPackages)
    expect(filterAgentPackages(packagesLater)).toEqual(
      expect.arrayContaining([
        '@ai-sdk/amazon-bedrock',
        '@ai-sdk/anthropic',
        '@ai-sdk/openai',
        '@ai-sdk/openai-compatible',
        '@modelcontextprotocol/client',
      ]),
    )
    expect(packagesLater).not.toContain('ai')
    expect([...packagesAtStart, ...packagesLater]).not.toContain('ajv')
  })
})
