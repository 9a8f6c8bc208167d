import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { system } from '../../../lib/system.ts'
import { provisionTable } from '../../../local/emulators/provision.ts'
import { LimitedService } from '../../support/limits/limited-service.ts'
import type { Report, Work } from '../../support/limits/limits-process-main.ts'

const MAIN = fileURLToPath(new URL('../../support/limits/limits-process-main.ts', import.meta.url))
const PROCESSES = 16
/** Each of them does two things at a time. */
const RUNS = 2 * PROCESSES
const MINUTE_MS = 60_000

const TABLE_NAME = `limits-processes-${system.newId()}`
const environment = { TABLE_NAME, DYNAMODB_ENDPOINT: inject('dynamodb') }
const table = openTable(environment)
const children = new Set<ChildProcess>()
beforeAll(() => provisionTable(inject('dynamodb'), TABLE_NAME))
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
})

/** What 16 processes report that begin at the same time. */
async function inProcesses(
  { organizationId, agentId }: LimitedService,
  work: Pick<Work, 'kind'> & Partial<Work>,
  begin = async () => undefined as unknown,
): Promise<Report[]> {
  const given: Work = { organizationId, agentId, tenantId: 'acme', costUsd: 0, ...work }
  const forked = Array.from({ length: PROCESSES }, () => {
    const child = fork(MAIN, [JSON.stringify(given)], { env: { ...process.env, ...environment } })
    children.add(child)
    return child
  })
  await Promise.all(forked.map((child) => once(child, 'message')))
  await begin()
  const reports = forked.map((child) => once(child, 'message'))
  for (const child of forked) child.send('begin')
  return (await Promise.all(reports)).map(([report]) => report as Report)
}

const sum = (reports: Report[], name: 'accepted' | 'refused' | 'spent') =>
  reports.reduce((total, report) => total + report[name], 0)

/** The most spans that overlap. */
function mostAtOnce(spans: Report['spans']): number {
  const changes = spans.flatMap(([start, end]) => [
    { at: start, by: 1 },
    { at: end, by: -1 },
  ])
  let [now, most] = [0, 0]
  for (const { by } of changes.sort((a, b) => a.at - b.at || a.by - b.by)) {
    now += by
    most = Math.max(most, now)
  }
  return most
}

describe(`limits in ${PROCESSES} processes`, () => {
  it.each([1, 5, 20])('never permit more than %i open executions, and use them all', async (max) => {
    const service = new LimitedService(table)
    await service.limit(service.tenant(), { maxOpenExecutions: max })
    const reports = await inProcesses(service, { kind: 'open' })
    const most = mostAtOnce(reports.flatMap(({ spans }) => spans))
    expect(most).toBeLessThanOrEqual(max)
    expect(most).toBeGreaterThan(max / 4)
    expect(sum(reports, 'accepted')).toBeGreaterThan(max)
    if (max < 10) expect(sum(reports, 'refused')).toBeGreaterThan(0)
  })

  it('permit exactly as many runs in a minute', async () => {
    const service = new LimitedService(table)
    const max = 100
    await service.limit(service.tenant(), { maxRunsPerMinute: max })
    await service.limit(service.agent(), { maxRunsPerMinute: 1_000 })
    const nextMinute = async () => {
      const leftMs = MINUTE_MS - (Date.now() % MINUTE_MS)
      if (leftMs < 30_000) await new Promise((resolve) => setTimeout(resolve, leftMs + 10))
    }
    const reports = await inProcesses(service, { kind: 'runs' }, nextMinute)
    expect(sum(reports, 'accepted')).toBe(max)
    expect(sum(reports, 'refused')).toBe(10 * RUNS - max)
  })

  it('are exceeded by no more than what is in flight', async () => {
    const service = new LimitedService(table)
    const { organizationId } = service
    const [maxUsd, costUsd] = [2, 0.01]
    await service.limit(service.tenant(), { maxCostUsd: { day: maxUsd, month: null } })
    await service.limit(service.agent(), { maxCostUsd: { day: null, month: 3 } })
    const reports = await inProcesses(service, { kind: 'spend', costUsd })
    const spent = sum(reports, 'spent')
    expect(spent).toBeGreaterThanOrEqual(maxUsd - 1e-9)
    // The last one to spend has found the limit not used up.
    expect(spent).toBeLessThan(maxUsd + RUNS * costUsd)
    for (const subject of [service.tenant(), service.agent()]) {
      const { day, month } = await service.stores.limits.getSpent({
        organizationId,
        subject,
        at: Date.now(),
      })
      expect([day, month]).toEqual([expect.closeTo(spent, 9), expect.closeTo(spent, 9)])
    }
  })
})
