import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { PROVIDERS, type Provider } from '../../lib/models/model-name.ts'

const FILES = readdirSync('lib/models').map(
  (name) => new URL(`../../lib/models/${name}`, import.meta.url).href,
)

/** The packages that a new process has loaded after importing all of lib/models and opening the models named. */
function packagesLoaded(models: string[]): string[] {
  const script = `
    import { registerHooks } from 'node:module'
    const loaded = new Set()
    registerHooks({
      load(url, context, next) {
        const name = /.*node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1]
        if (name) loaded.add(name)
        return next(url, context)
      },
    })
    const modules = await Promise.all(${JSON.stringify(FILES)}.map((file) => import(file)))
    const { openModel } = Object.assign({}, ...modules)
    for (const model of ${JSON.stringify(models)}) await openModel(model, process.env)
    console.log(JSON.stringify([...loaded]))`
  const env = {
    OPENAI_API_KEY: 'x',
    ANTHROPIC_API_KEY: 'x',
    OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:9',
    AWS_REGION: 'eu-central-1',
    AWS_BEARER_TOKEN_BEDROCK: 'x',
  }
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', script], { env, encoding: 'utf8' }),
  )
}

const PACKAGES: Record<Provider, string> = {
  openai: '@ai-sdk/openai',
  'openai-compatible': '@ai-sdk/openai-compatible',
  anthropic: '@ai-sdk/anthropic',
  bedrock: '@ai-sdk/amazon-bedrock',
}

describe('lib/models', () => {
  it('loads no package when it is imported', () => {
    expect(FILES.length).toBeGreaterThan(5)
    expect(packagesLoaded([])).toEqual([])
  })

  it.each(PROVIDERS)('loads the package of %s alone when its model is opened', (provider) => {
    const loaded = packagesLoaded([`${provider}/some-model`])
    expect(loaded).toContain('ai')
    expect(loaded).toContain(PACKAGES[provider])
    const others = PROVIDERS.filter((other) => other !== provider).map((other) => PACKAGES[other])
    // The package of Bedrock is built on Anthropic's.
    const allowed = provider === 'bedrock' ? [PACKAGES.anthropic] : []
    expect(others.filter((name) => loaded.includes(name))).toEqual(allowed)
  })
})
