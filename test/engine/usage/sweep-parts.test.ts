import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest'
import { Unavailable } from '../../../lib/core/errors.ts'
import type { Stores } from '../../../lib/dynamodb/open-stores.ts'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { withOutbox } from '../../../lib/engine/notifications/outbox.ts'
import { system } from '../../../lib/system.ts'
import { provisionTable } from '../../../local/emulators/provision.ts'
import { anExecution } from '../../support/engine/executions.ts'
import { RolloutRun } from '../../support/rollouts/rollout-run.ts'

const shared = vi.hoisted(() => ({ stores: null as Stores | null, sent: [] as unknown[] }))
const queue = { send: async (message: unknown) => void shared.sent.push(message), sendBatch: async () => {} }
vi.mock('../../../lib/engine/notifications/metrics-and-outbox.ts', () => ({
  withMetricsAndOutbox: (_: unknown, parts: Parameters<typeof withOutbox>[1]) =>
    withOutbox(shared.stores as Stores, parts),
}))
vi.mock('../../../lib/sqs/run-queue.ts', () => ({ openRunQueue: () => queue }))
vi.mock('../../../lib/sqs/delivery-queue.ts', () => ({ openDeliveryQueue: () => queue }))

let run: RolloutRun
let stores: Stores
let sweep: () => Promise<void>
let isThrottled = true
beforeAll(async () => {
  const TABLE_NAME = `sweep-parts-${system.newId()}`
  await provisionTable(inject('dynamodb'), TABLE_NAME)
  const table = openTable({ TABLE_NAME, DYNAMODB_ENDPOINT: inject('dynamodb') })
  // Three minutes ago: the sweeper has the clock of the system.
  run = await RolloutRun.create(table, Date.now() - 180_000)
  const { openStores } = await import('../../../lib/dynamodb/open-stores.ts')
  stores = openStores(table)
  const throttled = new Unavailable(new Error('Throttled.'))
  const { usage } = stores
  shared.stores = {
    ...stores,
    usage: {
      ...usage,
      read: (params) => {
        if (isThrottled) throw throttled
        return usage.read(params)
      },
      getPosition: () => (isThrottled ? Promise.reject(throttled) : usage.getPosition()),
    },
  }
  // Loading opens stores, which the mock replaces.
  vi.stubEnv('TABLE_NAME', TABLE_NAME)
  sweep = (await import('../../../functions/sweep-executions.ts')).handler
})

afterAll(() => void vi.unstubAllEnvs())

it('sweeps executions while neither usage nor rollouts can be looked at, and these in the next sweep', async () => {
  await run.start({ abort: { maxErrorRate: 0.5, minRuns: 5 } })
  await run.end(run.next, 5, { every: 1 })
  const stale = anExecution({ now: Date.now() - 600_000, deadlineMs: 86_400_000 })
  await stores.executions.create({ execution: stale })
  await expect(sweep()).rejects.toThrow(/parts of the sweep failed/)
  expect(shared.sent).toMatchObject([{ executionId: stale.id }])
  expect((await run.agent()).rollout).not.toBeNull()
  isThrottled = false
  await sweep()
  expect(await run.agent()).toMatchObject({
    rollout: null,
    abortedRollouts: { [run.next.id]: { reason: expect.stringContaining('5 of 5 runs') } },
  })
})
