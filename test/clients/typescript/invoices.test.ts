import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, inject, it } from 'vitest'
import { INTERVAL_MS, startOf } from '../../../lib/core/usage.ts'
import { usageStore } from '../../../lib/dynamodb/usage-store.ts'
import { newOrganization, sharedTable } from '../../support/engine/organization.ts'
import { aUsageRow } from '../../support/usage/memory-usage.ts'

const EXAMPLE = fileURLToPath(new URL('../../../examples/typescript/invoices.ts', import.meta.url))

it('prints what tenants owe for a month, and for which runs it does not know the price', async () => {
  const own = await newOrganization()
  const start = startOf('minute', Date.now()) - INTERVAL_MS.minute
  const rows = [
    aUsageRow({ tenantId: 'acme', agentId: 'a', runs: 1_000, costNanoUsd: 100_000_000 }),
    aUsageRow({ tenantId: 'acme', agentId: 'b', runs: 1_000, costNanoUsd: 200_000_000 }),
    aUsageRow({ tenantId: 'globex', unpricedRuns: 1 }),
    aUsageRow({ costNanoUsd: 900_000_000_000 }),
  ]
  const slot = { organizationId: own.id, interval: 'minute', start, isFinal: false } as const
  await usageStore(sharedTable()).put({ ...slot, rows, readAt: Date.now() })
  const environment = { ...process.env, BASE_URL: inject('service'), API_TOKEN: own.token }
  const month = new Date(start).toISOString().slice(0, 7)
  const run = (argument: string) =>
    promisify(execFile)(process.execPath, [EXAMPLE, argument], { env: environment })
  const { stdout, stderr } = await run(month)
  expect(stdout).toBe('acme: 2000 runs, $2.36\nglobex: 1 runs, $0.00\n')
  expect(stderr).toBe('globex: 1 runs used a model without a price.\n')
})
