import { expect, it, onTestFinished, vi } from 'vitest'
import { system } from '../../../lib/system.ts'
import { newOrganization } from '../../support/engine/organization.ts'
import { waitForExecution } from '../../support/service/client.ts'

/** More than the runner processes at a time. */
const BACKLOG = 45

const TENANTS: [string, () => string][] = [
  ['one tenant', () => 'acme'],
  // A thread for each run.
  ['a tenant for each run', () => system.newId()],
]

it.each(TENANTS)('a run starts beside the backlog of another organization, of %s', async (_, tenantOf) => {
  const [busy, other] = [await newOrganization(), await newOrganization()]
  await Promise.all([busy.publish('wait'), other.publish('echo')])
  const startLong = async (): Promise<string> =>
    (await busy.run('wait', { seconds: 600 }, `execMode=async&tenantId=${tenantOf()}`)).json.id
  const ids = await Promise.all(Array.from({ length: BACKLOG }, startLong))
  onTestFinished(async () => {
    await Promise.all(ids.map((id) => busy.call('POST', `/v1/agent_executions/${id}/cancel`)))
  })
  const listStarted = async () => {
    const { json } = await busy.call('GET', '/v1/agent_executions?limit=100&fields=summary')
    return json.filter(({ startedAt }: { startedAt: string | null }) => startedAt !== null)
  }
  await vi.waitFor(async () => expect((await listStarted()).length).toBeGreaterThan(16))

  const { id } = (await other.run('echo', { text: 'hello' }, 'execMode=async')).json
  expect(await waitForExecution(other.call, id)).toMatchObject({ status: 'SUCCESS' })
  expect((await listStarted()).length).toBeLessThan(BACKLOG)
})
