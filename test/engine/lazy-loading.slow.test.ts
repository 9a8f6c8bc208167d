import { describe, expect, it } from 'vitest'
import { loadedPackages } from '../support/processes/processes.ts'

const loadedBy = (...files: string[]) => {
  const urls = files.map((file) => new URL(`../../${file}`, import.meta.url).href)
  const env = {
    TABLE_NAME: 'table',
    QUEUE_URL: 'https://sqs.test/queue',
    DELIVERY_QUEUE_URL: 'https://sqs.test/delivery-queue',
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
  }
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
