import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import type { Version } from '../../lib/core/agent.ts'
import type { Lease } from '../../lib/core/execution.ts'
import { CLEANUP_DELAY_MS } from '../../lib/core/limits.ts'
import { executionStore } from '../../lib/dynamodb/executions/execution-store.ts'
import { executionKey } from '../../lib/dynamodb/table/keys.ts'
import { storePayload } from '../../lib/dynamodb/table/payload.ts'
import { system } from '../../lib/system.ts'
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

  it('requeues an execution whose lease has expired', async () => {
    const id = await createAbandoned({
      agoMs: 91_000,
      lease: { owner: system.newId(), expiresAt: Date.now() - 1 },
    })
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

  it('deletes a payload whose record was never written', async () => {
    const table = sharedTable()
    const executionId = system.newId()
    const writtenAt = Date.now() - CLEANUP_DELAY_MS - 1
    const target = { executionId, holder: executionKey(executionId), writer: 'dead', writtenAt }
    await storePayload(table, target, { text: randomBytes(100_000).toString('base64') })
    const chunks = async () => {
      const { items } = await table.query({
        KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
        ExpressionAttributeValues: { ':pk': target.holder.pk, ':prefix': 'PAYLOAD#' },
        ConsistentRead: true,
      })
      return items.length
    }
    expect(await chunks()).toBeGreaterThan(0)
    await vi.waitFor(async () => expect(await chunks()).toBe(0), { interval: 200 })
  })
})
