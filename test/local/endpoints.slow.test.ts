import { readdirSync } from 'node:fs'
import { describe, expect, inject, it } from 'vitest'
import { createLocalClient, waitForExecution } from '../support/service/client.ts'
import { startSqs } from '../support/service/port-emulators.ts'
import { temporaryServices } from '../support/service/temporary-services.ts'

const services = temporaryServices()
const folder = services.newFolder()

describe('DYNAMODB_ENDPOINT and SQS_ENDPOINT', () => {
  it('replace the embedded emulators', async () => {
    const queue = await startSqs()
    const environment = { DYNAMODB_ENDPOINT: inject('dynalite'), SQS_ENDPOINT: queue.endpoint }
    const service = await services.start(folder, environment)
    const call = createLocalClient(service.url, folder)
    const content = 'Mail ada@example.com.'
    const sync = await call('POST', '/v1/agents/redact-pii/executions', { body: { content } })
    expect(sync.json.redactedContent).toBe('Mail [EMAIL_ADDRESS].')
    const async = await call('POST', '/v1/agents/redact-pii/executions?execMode=async', { body: { content } })
    expect(await waitForExecution(call, async.json.id)).toMatchObject({
      status: 'SUCCESS',
      output: sync.json,
    })
    const listed = await call('GET', '/v1/agent_executions?limit=1')
    expect(listed.json[0].id).toBe(async.json.id)
    expect(listed.headers.get('link')).toContain('rel="next"')
    expect((await call('DELETE', `/v1/agent_executions/${async.json.id}`)).status).toBe(204)
    expect(readdirSync(folder).sort()).toEqual([
      'dev-token',
      'model-settings.json',
      'published.json',
      'service-url',
    ])
    await service.stop()
    await queue.stop()
  })
})
