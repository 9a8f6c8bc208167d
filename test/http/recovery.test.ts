import { beforeAll, describe, expect, it } from 'vitest'
import type { Version } from '../../lib/core/agent.ts'
import type { Lease } from '../../lib/core/execution.ts'
import { executionStore } from '../../lib/dynamodb/execution-store.ts'
import { system } from '../../lib/system.ts'
import { anExecution } from '../support/executions.ts'
import { newOrganization, sharedTable, type TestOrganization } from '../support/organization.ts'
import { finalExecution } from '../support/poll.ts'

let own: TestOrganization
let echo: Version

beforeAll(async () => {
  own = await newOrganization()
  echo = await own.publish('echo')
})

/** Leaves an execution behind as a worker does that dies: recorded `agoMs` ago, and nothing more. */
async function abandoned({
  agoMs,
  lease,
  deadlineMs = 3_600_000,
}: {
  agoMs: number
  lease: Lease | null
  deadlineMs?: number
}) {
  const execution = anExecution({
    organizationId: own.id,
    agentId: echo.agentId,
    versionId: echo.id,
    input: { text: 'left behind' },
    now: Date.now() - agoMs,
    deadlineMs,
    lease,
  })
  await executionStore(sharedTable()).create({ execution })
  return execution.id
}

describe.concurrent('the sweeper', () => {
  it('has an execution run that was recorded but never enqueued', async () => {
    const id = await abandoned({ agoMs: 61_000, lease: null })
    expect(await finalExecution(own.call, id)).toMatchObject({
      status: 'SUCCESS',
      output: { text: 'left behind' },
    })
  })

  it('has an execution run again whose worker died, once its lease has run out', async () => {
    const id = await abandoned({
      agoMs: 90_000,
      lease: { owner: system.newId(), expiresAt: Date.now() - 1 },
    })
    expect(await finalExecution(own.call, id)).toMatchObject({
      status: 'SUCCESS',
      output: { text: 'left behind' },
    })
  })

  it('ends an execution that is past its deadline', async () => {
    const id = await abandoned({ agoMs: 120_000, lease: null, deadlineMs: 1_000 })
    expect(await finalExecution(own.call, id)).toMatchObject({
      status: 'ERROR',
      error: { code: 'DeadlineExceeded' },
    })
  })
})
