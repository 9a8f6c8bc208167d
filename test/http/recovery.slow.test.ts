import { beforeAll, describe, expect, it } from 'vitest'
import type { Version } from '../../lib/core/agent.ts'
import type { Lease } from '../../lib/core/execution.ts'
import { executionStore } from '../../lib/dynamodb/executions/execution-store.ts'
import { anExecution } from '../support/engine/executions.ts'
import { newOrganization, sharedTable, type TestOrganization } from '../support/engine/organization.ts'
import { waitForExecution } from '../support/service/client.ts'

let org: TestOrganization
let echo: Version

beforeAll(async () => {
  org = await newOrganization()
  echo = await org.publish('echo')
})

/** Creates an execution as a worker leaves it that stops `agoMs` ago, right after it was recorded. */
async function createAbandoned({
  agoMs,
  lease,
  deadlineMs = 3_600_000,
}: {
  agoMs: number
  lease: Lease | null
  deadlineMs?: number
}) {
  const execution = anExecution({
    organizationId: org.id,
    agentId: echo.agentId,
    versionId: echo.id,
    input: { text: 'abandoned' },
    now: Date.now() - agoMs,
    deadlineMs,
    lease,
  })
  await executionStore(sharedTable()).create({ execution })
  return execution.id
}

describe.concurrent('the sweeper', () => {
  it('requeues an execution that was recorded but never enqueued', async () => {
    const id = await createAbandoned({ agoMs: 91_000, lease: null })
    expect(await waitForExecution(org.call, id)).toMatchObject({
      status: 'SUCCESS',
      output: { text: 'abandoned' },
    })
  })

  it('ends an execution past its deadline', async () => {
    const id = await createAbandoned({ agoMs: 120_000, lease: null, deadlineMs: 1_000 })
    expect(await waitForExecution(org.call, id)).toMatchObject({
      status: 'ERROR',
      error: { code: 'DeadlineExceeded' },
    })
  })
})
