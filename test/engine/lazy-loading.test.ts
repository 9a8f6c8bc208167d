import { describe, expect, it } from 'vitest'
import { loadedPackages } from '../support/processes/loaded-packages.ts'

const loadedBy = (...files: string[]) => {
  const urls = files.map((file) => new URL(`../../${file}`, import.meta.url).href)
  const env = {
    TABLE_NAME: 'table',
    QUEUE_URL: 'https://sqs.test/queue',
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
  }
  return loadedPackages(`for (const url of ${JSON.stringify(urls)}) await import(url)`, env)
}

describe('minisearch', () => {
  it.each(['functions/run-agent.ts', 'functions/process-execution.ts'])(
    'is not loaded by %s and a model agent without dynamic learning',
    (file) => {
      const loaded = loadedBy(file, 'lib/engine/model-agent/run.ts')
      expect(loaded).toContain('lru-cache')
      expect(loaded).not.toContain('minisearch')
    },
  )

  it('is loaded by dynamic learning', () => {
    expect(loadedBy('lib/engine/learning/recall.ts')).toContain('minisearch')
  })
})
