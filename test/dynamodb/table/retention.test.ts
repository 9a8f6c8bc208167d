import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import type { Execution } from '../../../lib/core/execution.ts'
import { executionStore } from '../../../lib/dynamodb/executions/execution-store.ts'
import { stepStore } from '../../../lib/dynamodb/executions/step-store.ts'
import { cacheStore } from '../../../lib/dynamodb/reservation-stores.ts'
import { cacheKey, executionKey } from '../../../lib/dynamodb/table/keys.ts'
import { openTable, type Table } from '../../../lib/dynamodb/table/table.ts'
import { EXECUTION_RETENTION_DAYS } from '../../../lib/environment.ts'
import { system } from '../../../lib/system.ts'
import { provisionTable } from '../../../local/emulators/provision.ts'
import { anExecution, leased, NO_PROGRESS } from '../../support/engine/executions.ts'

const DAY_MS = 86_400_000
const owner = 'me'
const name = `retention-${system.newId()}`
const open = (days?: string) =>
  openTable({ TABLE_NAME: name, DYNAMODB_ENDPOINT: inject('dynamodb'), [EXECUTION_RETENTION_DAYS]: days })

beforeAll(() => provisionTable(inject('dynamodb'), name))

/** Larger than a record may contain, even compressed. */
const large = () => ({ text: randomBytes(20_000).toString('base64') })

async function createRun(table: Table): Promise<Execution> {
  const executions = executionStore(table)
  const execution = anExecution({
    input: large(),
    now: Date.now(),
    lease: { owner, expiresAt: Date.now() + DAY_MS },
  })
  const times = { startedAt: execution.createdAt, finishedAt: execution.createdAt }
  const usage = { inputTokens: 0, outputTokens: 0 }
  await executions.create({ execution })
  const step = { kind: 'CODE' as const, number: 1, name: 'one', value: large(), ...times }
  await stepStore(table).append({ executionId: execution.id, owner, step, progress: NO_PROGRESS })
  const outcome = { status: 'SUCCESS' as const, output: large(), steps: 1, usage, model: null }
  await executions.finish({ execution: leased(execution, owner), outcome, finishedAt: times.finishedAt })
  return execution
}

async function itemsOf(table: Table, { id }: Execution) {
  const { items } = await table.query({
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': executionKey(id).pk },
  })
  return items
}

describe('a table with a retention of 30 days', () => {
  it('expires the record after 30 days, and its steps and chunks a week later', async () => {
    const table = open('30')
    const before = Date.now()
    const execution = await createRun(table)
    const items = await itemsOf(table, execution)
    expect(items.length).toBeGreaterThanOrEqual(5)
    for (const { sk, ttl } of items) {
      const days = sk === 'RECORD' ? 30 : 37
      expect(Math.abs(Number(ttl) * 1000 - before - days * DAY_MS), String(sk)).toBeLessThan(DAY_MS / 2)
    }
  })

  it('expires a cache entry with its execution at the latest', async () => {
    const table = open('30')
    const cache = cacheStore(table)
    const end = Date.now() + 30 * DAY_MS
    for (const [expiresAt, expected] of [
      [null, end],
      [end + DAY_MS, end],
      [end - DAY_MS, end - DAY_MS],
    ] as const) {
      const [key, executionId] = [system.newId(), system.newId()]
      await cache.reserve({ key, executionId, replaces: null, now: Date.now() })
      await cache.store({ key, executionId, output: { text: 'x' }, expiresAt })
      const item = await table.get(cacheKey(key), { consistent: true })
      expect(Math.abs(Number(item?.expiresAt) - expected)).toBeLessThan(DAY_MS / 2)
      expect(item?.ttl).toBe(Math.ceil(Number(item?.expiresAt) / 1000))
    }
  })

  it('expires nothing else', async () => {
    const table = open('30')
    const key = { pk: `AGENT#${system.newId()}`, sk: 'AGENT' }
    await table.put(key)
    await table.writeMany([{ put: { ...key, sk: 'CODE' } }])
    const { items } = await table.query({
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': key.pk },
    })
    expect(items.map(({ ttl }) => ttl)).toEqual([undefined, undefined])
  })

  it('rejects an invalid number of days', () => {
    expect(() => open('a month')).toThrow(`${EXECUTION_RETENTION_DAYS} is "a month"`)
  })
})

describe('a table without a retention', () => {
  it('expires nothing', async () => {
    const table = open()
    const execution = await createRun(table)
    expect(new Set((await itemsOf(table, execution)).map(({ ttl }) => ttl))).toEqual(new Set([undefined]))
    expect(table.expiryOf(execution.id)).toBeNull()
  })
})
