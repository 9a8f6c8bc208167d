import { beforeAll, describe, expect, it } from 'vitest'
import { executionStore } from '../../lib/dynamodb/executions/execution-store.ts'
import { newOrganization, sharedTable, type TestOrganization } from '../support/engine/organization.ts'
import { type ApiClient, getExecutionId } from '../support/service/client.ts'

const executions = executionStore(sharedTable())

let org: TestOrganization
let agentId: string
beforeAll(async () => {
  org = await newOrganization()
  agentId = (await org.publish('echo')).agentId
})

/** What runs learn from an execution after the client has corrected it. */
async function correct(client: ApiClient) {
  const id = getExecutionId(await org.run('echo', { text: 'said' }))
  const body = { rating: -1, correctedOutput: { text: 'corrected' } }
  const { status } = await client('PUT', `/v1/agent_executions/${id}/feedback`, { body })
  const [example] = await executions.getExamples({
    ...{ organizationId: org.id, agentId, tenantId: null },
    ids: [id],
  })
  return { status, taught: example?.output.text, shown: (await org.getExecution(id)).feedback?.rating }
}

describe('feedback', () => {
  it.each([
    [['run'], 'said'],
    [['run', 'read'], 'said'],
    [['review'], 'corrected'],
    [['manage'], 'corrected'],
    [['run', 'review'], 'corrected'],
    [null, 'corrected'],
  ] as const)('of a token with the scopes %j teaches that the output is "%s"', async (scopes, taught) => {
    const client = await org.withLimits({ scopes: scopes && [...scopes] })
    expect(await correct(client)).toEqual({ status: 200, taught, shown: -1 })
  })

  it('of a token with the scope read alone is refused', async () => {
    const client = await org.withLimits({ scopes: ['read'] })
    expect(await correct(client)).toEqual({ status: 403, taught: 'said', shown: undefined })
  })
})
