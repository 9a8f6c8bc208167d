import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CreateTableCommand, DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { afterAll, describe, expect, inject, it, vi } from 'vitest'
import { clientConfig } from '../../../lib/aws-sdk.ts'
import { executionStore } from '../../../lib/dynamodb/executions/execution-store.ts'
import { INDEXES } from '../../../lib/dynamodb/table/schema.ts'
import { system } from '../../../lib/system.ts'
import { acquireLock, type LockHolder } from '../../../local/emulators/database-lock.ts'
import { startDynoxideProcess } from '../../../local/emulators/dynoxide-process.ts'
import { openDatabase } from '../../../local/emulators/open-database.ts'
import { provisionTable } from '../../../local/emulators/provision.ts'
import { tableOn } from '../../support/tables/emulators.ts'

const folder = mkdtempSync(join(tmpdir(), 'aes-emulators-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('acquireLock', () => {
  const writeLock = (holder: LockHolder) => writeFileSync(join(folder, 'store.lock'), JSON.stringify(holder))

  it('lets only one process take over a stale lock', async () => {
    for (let round = 0; round < 100; round++) {
      writeLock({ pid: 2 ** 30, isShortLived: false, endpoint: null })
      const acquire = () => acquireLock(folder, { isShortLived: true })
      const results = await Promise.all(Array.from({ length: 8 }, acquire))
      const locks = results.filter((result) => 'release' in result)
      expect(locks).toHaveLength(1)
      await locks[0]?.release()
    }
  })

  it('takes over the lock of a holder whose endpoint is closed, even if its process id is in use', async () => {
    writeLock({ pid: process.pid, isShortLived: false, endpoint: 'http://127.0.0.1:1' })
    const lock = await acquireLock(folder, { isShortLived: false })
    expect(lock).toHaveProperty('release')
    if ('release' in lock) await lock.release()
  })

  it('does not take over the lock of a holder that is stopping its emulator', async () => {
    const environment = { DATA_DIR: join(folder, 'stopping') }
    const database = await openDatabase('command', environment)
    const lockFile = join(environment.DATA_DIR, 'store.lock')
    const stopping = database.stop()
    await vi.waitUntil(() => endpointIn(lockFile) === null, { interval: 1 })
    const other = await acquireLock(environment.DATA_DIR, { isShortLived: true })
    expect(other).toMatchObject({ pid: process.pid, endpoint: null })
    await stopping
  })

  it('returns the live holder', async () => {
    const lock = await acquireLock(folder, { isShortLived: true })
    const holder = { pid: process.pid, isShortLived: true, endpoint: null }
    expect(await acquireLock(folder, { isShortLived: false })).toEqual(holder)
    if ('release' in lock) await lock.release()
  })
})

function endpointIn(lockFile: string): string | null | undefined {
  try {
    return (JSON.parse(readFileSync(lockFile, 'utf8')) as LockHolder).endpoint
  } catch {
    return undefined
  }
}

describe('a line on the standard output of dynoxide that is not a message', () => {
  /** A program in place of dynoxide. @param onLine the body of a function of a line that it receives */
  function writeProgram(name: string, onLine: string): string {
    const file = join(folder, name)
    const script = `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => { ${onLine} })`
    writeFileSync(file, `#!${process.execPath}\n${script}\n`, { mode: 0o755 })
    return file
  }

  it.each(['listening', '{"id":', 'null', '7', ''])('is skipped: %j', async (line) => {
    const answer = `JSON.stringify({ id: JSON.parse(line).id, result: { content: [{ text: '{}' }] } })`
    const program = writeProgram('talkative', `console.log(${JSON.stringify(line)}); console.log(${answer})`)
    const { call, stop } = await startDynoxideProcess(program, null)
    expect(await call('ListTables', {})).toEqual({ status: 200, body: '{}' })
    await stop()
  })

  it('instead of the first answer fails the start', async () => {
    const program = writeProgram('confused', `console.log('listening')`)
    const starting = startDynoxideProcess(program, null, { maxStartMs: 300 })
    await expect(starting).rejects.toThrow('dynoxide did not answer within 0.3 s.')
  })
})

const emulator = 'dynamodb'

describe('provisionTable', () => {
  it('creates the indexes that an existing table does not have, and changes nothing else', async () => {
    const name = `old-${system.newId()}`
    const client = new DynamoDBClient(clientConfig(inject(emulator)))
    const KEYS = { pk: 'HASH', sk: 'RANGE' } as const
    const keys = Object.entries(KEYS).map(([AttributeName, KeyType]) => ({ AttributeName, KeyType }))
    await client.send(
      new CreateTableCommand({
        TableName: name,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: keys.map(({ AttributeName }) => ({ AttributeName, AttributeType: 'S' })),
        KeySchema: keys,
      }),
    )
    const indexes = async () => {
      const { Table } = await client.send(new DescribeTableCommand({ TableName: name }))
      return Table?.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName).sort()
    }
    for (let times = 0; times < 2; times++) {
      await provisionTable(inject(emulator), name)
      expect(await indexes()).toEqual(Object.keys(INDEXES).sort())
    }
    const scope = { organizationId: 'ours', agentId: 'agent', tenantId: null }
    const store = executionStore(tableOn(emulator, name))
    expect(await store.listLessons({ ...scope, limit: 10 })).toEqual([])
  })
})
