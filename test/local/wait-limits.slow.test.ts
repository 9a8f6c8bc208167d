import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTable } from '../../lib/dynamodb/table/table.ts'
import { LOCAL_TABLE, provisionTable } from '../../local/emulators/provision.ts'
import type { Emulator } from '../../local/emulators/start-emulators.ts'
import { newOrganization } from '../support/engine/organization.ts'
import { waitUntil } from '../support/processes/wait-until.ts'
import { type ApiClient, createClient, waitForExecution } from '../support/service/client.ts'
import { startDynamoDB } from '../support/service/port-emulators.ts'
import { temporaryServices } from '../support/service/temporary-services.ts'

const services = temporaryServices()
let dynamodb: Emulator
let call: ApiClient
beforeAll(async () => {
  dynamodb = await startDynamoDB(null)
  await provisionTable(dynamodb.endpoint, LOCAL_TABLE)
  const own = await newOrganization(
    openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: dynamodb.endpoint }),
  )
  await own.publish('waits')
  await own.publish('wait')
  const { url } = await services.start(services.newFolder(), {
    DYNAMODB_ENDPOINT: dynamodb.endpoint,
    MAX_OPEN_EXECUTIONS: '1',
    MAX_SUSPENDED_EXECUTIONS: '1',
    MAX_WAIT_DAYS: '1',
  })
  call = createClient(url, own.token)
})
afterAll(() => dynamodb.stop())

const run = (slug: string, body: object, mode = 'sync') =>
  call('POST', `/v1/agents/${slug}/executions?execMode=${mode}`, { body })

/** The limit of open executions refuses runs for a moment after one has ended. */
async function runOnceAdmitted(slug: string, body: object, mode?: string) {
  let response = await run(slug, body, mode)
  const isAdmitted = async () => {
    if (response.status !== 429) return true
    response = await run(slug, body, mode)
    return false
  }
  await waitUntil(isAdmitted, { what: 'the limit of open executions', limitMs: 5_000, intervalMs: 50 })
  return response
}
const cancel = (id: string) => call('POST', `/v1/agent_executions/${id}/cancel`)

describe('a service with a limit of one open and one suspended execution, and one day of waits', () => {
  it('accepts a run while another one is suspended, and resumes that one while no further one is accepted', async () => {
    const { json: suspended } = await run('waits', { seconds: 2 })
    expect(suspended.waitingFor).toMatchObject([{ kind: 'sleep' }])
    const { json: open } = await run('wait', { seconds: 60 }, 'async')
    expect((await run('wait', { seconds: 0 })).status).toBe(429)
    expect(await waitForExecution(call, suspended.id)).toMatchObject({ status: 'SUCCESS' })
    expect((await run('wait', { seconds: 0 })).status).toBe(429)
    await cancel(open.id)
  })

  it.each([
    ['in a worker of its own', 'async'],
    ['while its caller waits', 'sync'],
  ])('ends a run that would be the second suspended one, %s', async (_, mode) => {
    const { json: first } = await runOnceAdmitted('waits', { signal: 'go' })
    expect(first.waitingFor).toMatchObject([{ kind: 'signal' }])
    const response = await runOnceAdmitted('waits', { signal: 'go' }, mode)
    const id = response.headers.get('x-execution-id') ?? response.json.id
    const { status, error } = await waitForExecution(call, id)
    expect([status, error.code]).toEqual(['ERROR', 'WaitLimitExceeded'])
    expect(error.message).toContain('maxSuspendedExecutions')
    await cancel(first.id)
  })

  it('ends a run that would sleep for two days', async () => {
    const { headers } = await runOnceAdmitted('waits', { seconds: 2 * 86_400 })
    const { error } = await waitForExecution(call, headers.get('x-execution-id') ?? '')
    expect(error).toMatchObject({
      code: 'WaitLimitExceeded',
      message: 'The run would wait longer than the setting maxWaitDays allows: 1.',
    })
  })
})
