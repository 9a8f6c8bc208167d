import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { INTERVAL_MS, startOf } from '../../lib/core/usage.ts'
import { usageStore } from '../../lib/dynamodb/usage-store.ts'
import { newOrganization, sharedTable, type TestOrganization } from '../support/engine/organization.ts'
import { aUsageRow } from '../support/usage/memory-usage.ts'
import { newCli } from './cli.ts'

const cli = newCli()
afterAll(cli.remove)

const minute = startOf('minute', Date.now()) - INTERVAL_MS.minute
const hour = new Date(startOf('hour', minute)).toISOString().replace('.000Z', 'Z')

let own: TestOrganization
beforeAll(async () => {
  own = await newOrganization()
  const { agentId } = await own.publish('echo')
  const rows = [
    aUsageRow({ tenantId: 'acme', agentId, runs: 3, costNanoUsd: 1_234_567_890, inputTokens: 1_000 }),
    aUsageRow({ tenantId: '=cmd', agentId, errors: { AgentFailed: 1 }, costNanoUsd: 1_234, unpricedRuns: 1 }),
    aUsageRow({ tenantId: 'tiny', agentId, costNanoUsd: 123 }),
  ]
  const slot = { organizationId: own.id, interval: 'minute', start: minute, isFinal: false } as const
  await usageStore(sharedTable()).put({ ...slot, rows, readAt: Date.now() })
})

const run = (...args: string[]) =>
  cli.run(['usage', ...args, '--url', inject('service')], { environment: { AGENTS_TOKEN: own.token } })

describe('usage', () => {
  it('is a table, by hour', async () => {
    const { stdout } = await run('--group-by', 'tenant,agent')
    expect(stdout.replaceAll(/ +/g, ' ')).toBe(
      `START TENANT AGENT RUNS FAILED CACHED TOKENS IN TOKENS OUT COST
${hour} =cmd echo 1 1 0 0 0 $0.00000123+
${hour} acme echo 3 0 0 1000 0 $1.23
${hour} tiny echo 1 0 0 0 0 $0.000000123
`,
    )
    expect((await run('--interval', 'day')).stdout).toContain(`${hour.slice(0, 10)}T00:00:00Z  5 `)
  })

  it('is filtered, from a date or a time on', async () => {
    const today = new Date().toISOString().slice(0, 10)
    const json = async (...args: string[]) => JSON.parse((await run('--json', ...args)).stdout)
    expect(await json('--tenant', 'acme', '--agent', 'echo', '--from', hour)).toMatchObject([
      { runs: 3, costUsd: 1.23456789 },
    ])
    expect(await json('--interval', 'day', '--from', '2026-01-01', '--to', today)).toEqual([])
    const nothing = await run('--from', '2030-01-01')
    expect([nothing.code, nothing.stdout]).toEqual([0, 'No run ended in this time.\n'])
  })

  it('is CSV, as the service writes it', async () => {
    const { stdout } = await run('--group-by', 'tenant', '--csv')
    const { text } = await own.call('GET', '/v1/usage?groupBy=tenant', { headers: { Accept: 'text/csv' } })
    expect(stdout).toBe(text)
    expect(stdout).toContain(
      `\r\n${hour},"'=cmd",1,0,1,"{""AgentFailed"":1}",0,0,0,0,0,0,0.000001234,0,1,0\r\n`,
    )
  })

  it.each([
    [['--group-by', 'tenants'], 'It must be a list of tenant, agent, version, model and token'],
    [['--interval', 'week'], 'Allowed choices are minute, hour, day.'],
    [['--from', 'yesterday'], 'It must be a date and time with a time zone'],
    [['--from', '2026-02-30'], 'It must be a date and time with a time zone'],
  ])('rejects %j', async (args, message) => {
    const { code, stderr } = await run(...args)
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  })

  it('explains what the service rejects, and options that exclude each other', async () => {
    const old = await run('--from', '2000-01-01')
    expect([old.code, old.stderr]).toEqual([
      1,
      'Cannot read the usage: from must be within the last 100 days with interval=hour.\n',
    ])
    const both = await run('--json', '--csv')
    expect([both.code, both.stdout]).toEqual([1, expect.stringContaining('--csv cannot be combined')])
  })
})
