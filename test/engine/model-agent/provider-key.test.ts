import { afterEach, describe, expect, it, vi } from 'vitest'
import { runInProcess } from '../../../lib/engine/submit/submit.ts'
import { engineOn } from '../../support/engine/engine-on.ts'
import { runOptions } from '../../support/engine/executions.ts'
import { aModelAgent } from '../../support/engine/model-agent.ts'
import { sharedTable } from '../../support/engine/organization.ts'
import { json, serve } from '../../tools/serve.ts'

afterEach(() => vi.unstubAllEnvs())

describe('a run whose API key is an SSM parameter', () => {
  it.each([
    [
      'AccessDeniedException',
      'ModelUnavailable',
      'Could not read the API key from the SSM parameter /team/AccessDeniedException',
    ],
    ['ParameterNotFound', 'ModelNotConfigured', 'does not contain an API key'],
  ])('ends in ERROR on %s, with the code %s', async (__type, code, words) => {
    const store = await serve((response) => json(response, { __type, message: 'no' }, 400))
    vi.stubEnv('AWS_ENDPOINT_URL_SSM', store.url)
    vi.stubEnv('AWS_REGION', 'eu-central-1')
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'test')
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test')
    vi.resetModules()
    const environment = { OPENAI_API_KEY_PARAMETER: `/team/${__type}` }
    const engine = { ...engineOn(sharedTable()), environment }
    const version = await aModelAgent({ model: 'openai/gpt-5' })
    const ended = await runInProcess(engine, {
      version,
      input: { question: '?' },
      tenantId: null,
      options: runOptions(),
    })
    expect(ended.error).toEqual({ code, message: expect.stringContaining(words) })
  })
})
