import { expect, it } from 'vitest'
import { addUp, addUpBy, averageRunTime, countErrors } from '../../../console/usage/totals.ts'
import { aUsageRow } from '../../browser/stub/records.ts'

it('addUp adds the runs and errors of all intervals', () => {
  const rows = [
    aUsageRow({ runs: 3, errors: { AgentFailed: 1, TimedOut: 1 }, costUsd: 0.5, runTimeMs: 900 }),
    aUsageRow({ runs: 2, cacheHits: 1, errors: {}, costUsd: 0.25, unpricedRuns: 1, runTimeMs: 300 }),
  ]
  expect(addUp(rows)).toMatchObject({
    ...{ runs: 5, failed: 2, cacheHits: 1, costUsd: 0.75, unpricedRuns: 1, runTimeMs: 1_200 },
  })
  expect(new Set(Object.values(addUp([])))).toEqual(new Set([0]))
})

it('addUpBy sorts groups by cost, then by runs', () => {
  const rows = [
    aUsageRow({ tenantId: 'free', runs: 9, costUsd: 0 }),
    aUsageRow({ tenantId: 'acme', runs: 1, costUsd: 1 }),
    aUsageRow({ tenantId: null, runs: 20, costUsd: 0 }),
    aUsageRow({ tenantId: 'globex', runs: 1, costUsd: 2 }),
    aUsageRow({ tenantId: 'acme', runs: 1, costUsd: 3 }),
  ]
  const groups = addUpBy(rows, ({ tenantId }) => tenantId)
  const keys = groups.map(({ key, runs }) => `${key}: ${runs}`)
  expect(keys).toEqual(['acme: 2', 'globex: 1', 'null: 20', 'free: 9'])
})

it('countErrors sorts codes by how often they occur', () => {
  const rows = [
    aUsageRow({ errors: { TimedOut: 2, AgentFailed: 1 } }),
    aUsageRow({ errors: { AgentFailed: 4 } }),
  ]
  expect(countErrors(rows)).toEqual([
    { code: 'AgentFailed', count: 5 },
    { code: 'TimedOut', count: 2 },
  ])
})

it('averageRunTime leaves results from the cache out', () => {
  const average = (runs: number, cacheHits: number) =>
    averageRunTime(addUp([aUsageRow({ runs, cacheHits, runTimeMs: 600 })]))
  expect([average(3, 1), average(1, 1), average(0, 0)]).toEqual([300, null, null])
})
