import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { loadedPackages } from '../support/processes/processes.ts'
import type { ScriptedProvider } from '../support/scripted-model/recorded-request.ts'
import { SCRIPTED_PROVIDERS } from '../support/scripted-model/start-scripted-model.ts'

const AWS = { AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' }

const loadedBy = (...files: string[]) => {
  const urls = files.map((file) => new URL(`../../${file}`, import.meta.url).href)
  const queues = {
    QUEUE_URL: 'https://sqs.test/queue',
    DELIVERY_QUEUE_URL: 'https://sqs.test/delivery-queue',
  }
  const env = { ...AWS, ...queues, TABLE_NAME: 'table' }
  return loadedPackages(`for (const url of ${JSON.stringify(urls)}) await import(url)`, env)
}

describe('packages of model providers', () => {
  it.each(['functions/run-agent.ts', 'functions/process-execution.ts', 'functions/give-feedback.ts'])(
    'are not loaded by %s and dynamic learning, until a model is used',
    (file) => {
      const learning = ['lib/engine/learning/recall.ts', 'lib/models/embed-text.ts']
      const loaded = loadedBy(file, 'lib/engine/model-agent/run.ts', ...learning)
      expect(loaded).toContain('lru-cache')
      expect(loaded).not.toContain('@ai-sdk/openai')
    },
  )
})

const FILES = readdirSync('lib/models', { recursive: true })
  .map(String)
  .filter((name) => name.endsWith('.ts'))
  .map((name) => new URL(`../../lib/models/${name}`, import.meta.url).href)

const ENVIRONMENT = {
  OPENAI_API_KEY: 'x',
  ANTHROPIC_API_KEY: 'x',
  OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:9',
  ...AWS,
  AWS_BEARER_TOKEN_BEDROCK: 'x',
}

/** The packages loaded after importing all of lib/models and opening the given models. */
const loadedWith = (models: string[]) =>
  loadedPackages(
    `const modules = await Promise.all(${JSON.stringify(FILES)}.map((file) => import(file)))
    const { openModel } = Object.assign({}, ...modules)
    for (const model of ${JSON.stringify(models)}) await openModel(model, process.env)`,
    ENVIRONMENT,
  )

const PACKAGES: Record<ScriptedProvider, string> = {
  openai: '@ai-sdk/openai',
  'openai-compatible': '@ai-sdk/openai-compatible',
  anthropic: '@ai-sdk/anthropic',
  bedrock: '@ai-sdk/amazon-bedrock',
}

describe('lib/models', () => {
  it('loads no package on import', () => {
    expect(FILES.length).toBeGreaterThan(5)
    expect(loadedWith([])).toEqual([])
  })

  it.each(SCRIPTED_PROVIDERS)('loads only the package of %s when one of its models is opened', (provider) => {
    const loaded = loadedWith([`${provider}/some-model`])
    expect(loaded).not.toContain('ai')
    expect(loaded).toContain(PACKAGES[provider])
    const others = SCRIPTED_PROVIDERS.filter((other) => other !== provider).map((other) => PACKAGES[other])
    // The Bedrock package depends on the Anthropic package.
    const allowed = provider === 'bedrock' ? [PACKAGES.anthropic] : []
    expect(others.filter((name) => loaded.includes(name))).toEqual(allowed)
  })
})
