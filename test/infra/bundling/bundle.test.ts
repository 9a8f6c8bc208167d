import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleFunctions } from '../../../infra/bundling/bundle.ts'
import { LOADING_ENVIRONMENT } from '../../../infra/bundling/bundle-times.ts'
import { FUNCTION_NAMES } from '../../../infra/functions/function-settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'aes-bundles-'))
const fileOf = (name: string) => join(folder, name, 'index.mjs')

beforeAll(() => bundleFunctions(folder))
afterAll(() => rmSync(folder, { recursive: true }))

/** What the runtime of Lambda gives to functions that stream; elsewhere there is none. */
const AWSLAMBDA = 'globalThis.awslambda = { streamifyResponse: (handler) => handler }'

/** The exports of a module by their types, loaded as the deployed function is: in a process of its own. */
async function exportsOf(file: string): Promise<Record<string, string>> {
  const script = `${AWSLAMBDA}
    const module = await import(${JSON.stringify(pathToFileURL(file).href)})
    console.log(JSON.stringify(Object.fromEntries(Object.entries(module).map(([k, v]) => [k, typeof v]))))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    env: LOADING_ENVIRONMENT,
  })
  return JSON.parse(stdout)
}

describe('bundleFunctions', () => {
  it('is tested on the Node that the functions run on', () => {
    expect(process.versions.node).toMatch(/^24\./)
  })

  it.each(FUNCTION_NAMES)('makes %s a module that loads and exports its handler', async (name) => {
    expect(await exportsOf(fileOf(name))).toEqual({ handler: 'function' })
  })

  it.each(FUNCTION_NAMES)('leaves no import in %s, neither of a package nor of a built-in', (name) => {
    const text = readFileSync(fileOf(name), 'utf8')
    const imports = text.match(/(?:^|[;}\s])import\s*[\w{*"'][^;(]{0,80}?["'][^"']+["']/g) ?? []
    expect(imports.filter((found) => !found.includes('"./chunk-'))).toEqual([])
    expect(text).not.toMatch(/Dynamic require of/)
  })

  it.each(FUNCTION_NAMES)('keeps %s under 1 MB', (name) => {
    expect(statSync(fileOf(name)).size).toBeLessThan(1_000_000)
  })
})
