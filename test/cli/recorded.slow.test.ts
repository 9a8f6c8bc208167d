import { hostname } from 'node:os'
import {
  DeleteTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  TagResourceCommand,
} from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { AuditEntry } from '../../lib/core/audit.ts'
import { firstIdAt } from '../../lib/core/ids.ts'
import { openStores } from '../../lib/dynamodb/open-stores.ts'
import { AUDIT_PARTITIONS, auditPartition } from '../../lib/dynamodb/table/keys.ts'
import { type Item, openTable } from '../../lib/dynamodb/table/table.ts'
import { DEVELOPMENT_ORGANIZATION, userName } from '../../local/development.ts'
import { openDatabase } from '../../local/emulators/open-database.ts'
import { LOCAL_TABLE, provisionTable } from '../../local/emulators/provision.ts'
import { startSts } from '../support/service/fake-sts.ts'
import { scanTable } from '../support/tables/scan-table.ts'
import { sdkConfig } from '../support/tables/sdk.ts'
import { withStores } from '../support/tables/with-stores.ts'
import { greeter, inFolder, newCli } from './cli.ts'

const cli = newCli()
const stack = `r${Date.now().toString(36)}-prod`
const TABLE_NAME = `${stack}-Table8A1B-1ABC2DEF3GHI`
const ARN = 'arn:aws:sts::123456789012:assumed-role/Operators/ada@example.com'
let sts: Awaited<ReturnType<typeof startSts>>
let silent: Awaited<ReturnType<typeof startSts>>

beforeAll(async () => {
  sts = await startSts(ARN)
  silent = await startSts(null)
  await provisionTable(inject('dynamodb'), TABLE_NAME)
  cli.write(inFolder('hello', greeter('Hello')))
})
afterAll(async () => {
  const client = new DynamoDBClient(sdkConfig(inject('dynamodb')))
  await client.send(new DeleteTableCommand({ TableName: TABLE_NAME }))
  client.destroy()
  await Promise.all([sts.stop(), silent.stop()])
  cli.remove()
})

/** The SDK's own variables point it at the emulators. */
const environmentWith = (url: string) => ({
  AWS_ENDPOINT_URL_DYNAMODB: inject('dynamodb'),
  AWS_ENDPOINT_URL_STS: url,
  AWS_REGION: 'local',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
})
const json = (...args: string[]) =>
  cli.json([...args, '--stack', stack], { environment: environmentWith(sts.url) })

const openStack = () => openStores(openTable({ TABLE_NAME, DYNAMODB_ENDPOINT: inject('dynamodb') }))
const entriesOf = async (organizationId: string): Promise<AuditEntry[]> =>
  (await openStack().audit.list({ organizationId, limit: 100, after: null })).items

/** The items of an audit log. */
async function readLocalLog(organizationId: string): Promise<Item[]> {
  const database = await openDatabase('command', { DATA_DIR: cli.dataDir })
  const table = openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: database.endpoint })
  const partitions = Array.from({ length: AUDIT_PARTITIONS }, (_, number) =>
    auditPartition(organizationId, number),
  )
  const pages = partitions.map((pk) =>
    table.query({ KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': pk } }),
  )
  return Promise.all(pages)
    .then((found) => found.flatMap(({ items }) => items))
    .finally(() => database.stop())
}

describe('commands on the table of a stack', () => {
  it('are recorded with the caller of AWS', async () => {
    const { id: org } = await json('orgs', 'create', 'Example Ltd')
    const { agentId, versionId } = await json('publish', 'hello')
    const draft = await json('publish', 'hello', '--draft')
    expect(draft.versionId).not.toBe(undefined)
    await json('archive', 'hello')
    await json('restore', 'hello')
    const token = await json('tokens', 'create', '--name', 'ci')
    const rotated = await json('tokens', 'rotate', token.id, '--overlap', '1h')
    await json('tokens', 'revoke', rotated.id)
    const entries = (await entriesOf(org)).reverse()
    for (const { actor, source, result } of entries)
      expect({ actor, source, result }).toEqual({
        actor: { kind: 'cli', id: ARN },
        source: { interface: 'CLI', host: hostname() },
        result: 'SUCCEEDED',
      })
    expect(entries.map(({ action, target }) => [action, target.id])).toEqual([
      ['organization.create', org],
      ['agent.publish', agentId],
      ['agent.publish', agentId],
      ['agent.archive', agentId],
      ['agent.restore', agentId],
      ['token.create', token.id],
      ['token.create', rotated.id],
      ['token.revoke', token.id],
      ['token.revoke', rotated.id],
    ])
    expect(entries[1]?.changes).toMatchObject({ slug: 'hello', draft: false, versionId, isNew: true })
    expect(entries[5]?.changes).toMatchObject({ name: 'ci', scopes: ['run', 'read'] })
    const stored = JSON.stringify(entries)
    for (const { token: text } of [token, rotated]) expect(stored).not.toContain(text)
  })

  it('change nothing if AWS does not say who the caller is', async () => {
    const before = await json('orgs', 'list')
    const { code, stderr } = await cli.run(['orgs', 'create', 'Other', '--stack', stack], {
      environment: environmentWith(silent.url),
    })
    expect(code).toBe(1)
    expect(stderr).toContain('Nothing was changed: AWS STS did not say who you are')
    expect(await json('orgs', 'list')).toEqual(before)
  })

  it('do not ask who the caller is if they only read', async () => {
    const { code } = await cli.run(['orgs', 'list', '--stack', stack], {
      environment: environmentWith(silent.url),
    })
    expect(code).toBe(0)
  })
})

describe('what commands write', () => {
  /** The variables of this shell, which are those of another service. */
  const ofShell = { AUDIT_RETENTION_DAYS: '5', EXECUTION_RETENTION_DAYS: '5', EVENT_BUS: 'mine' }
  const onStack = (...args: string[]) =>
    cli.json([...args, '--stack', stack], { environment: { ...environmentWith(sts.url), ...ofShell } })

  async function tagTable(Value: string): Promise<void> {
    const client = new DynamoDBClient(sdkConfig(inject('dynamodb')))
    const { Table } = await client.send(new DescribeTableCommand({ TableName: TABLE_NAME }))
    const Tags = [{ Key: 'agent-execution-service:settings', Value }]
    await client.send(new TagResourceCommand({ ResourceArn: Table?.TableArn, Tags }))
    client.destroy()
  }
  const daysOf = ({ ttl }: Item) => Math.round((Number(ttl) - Date.now() / 1000) / 86_400)
  const itemsOf = async (id: string) =>
    (await scanTable(inject('dynamodb'), TABLE_NAME)).filter((item) => item.id === id)

  /** The entry of a change that is made now. */
  async function change(): Promise<Item> {
    const { id: org } = await onStack('orgs', 'create', 'Kept')
    const [{ id } = { id: '' }] = await entriesOf(org)
    const [item = {}] = await itemsOf(id)
    return item
  }

  it('has the retention of a table without the tag: nothing is lost', async () => {
    const item = await change()
    expect([daysOf(item), 'openShard' in item]).toEqual([3_650, true])
  })

  it('is kept as the stack says, and is only marked if the stack has an event bus', async () => {
    await tagTable('AUDIT_RETENTION_DAYS=30 EXECUTION_RETENTION_DAYS=20 MAX_WAIT_DAYS=10')
    const item = await change()
    expect([daysOf(item), 'openShard' in item]).toEqual([30, false])
    const org = String(item.organizationId)
    await onStack('publish', 'hello', '--org', org)
    const { code, stderr } = await cli.run(['run', 'hello', '--input', '-', '--org', org, '--stack', stack], {
      environment: { ...environmentWith(sts.url), ...ofShell },
      stdin: '{"name":"Ada"}',
    })
    expect(code).toBe(0)
    const [, executionId = ''] = /^execution (\S+),/m.exec(stderr) ?? []
    expect((await itemsOf(executionId)).map(daysOf)).toEqual([20])

    await tagTable('AUDIT_RETENTION_DAYS=30 EVENT_BUS=on')
    expect('openShard' in (await change())).toBe(true)
  })

  it('is listed for as long as the stack keeps it', async () => {
    const item = await change()
    const organizationId = String(item.organizationId)
    const at = Date.now() - 20 * 86_400_000
    const [entry] = await entriesOf(organizationId)
    if (!entry) throw new Error('no entry')
    const old = { ...entry, id: `${firstIdAt(at)}-${entry.id.slice(14)}`, at: new Date(at).toISOString() }
    await openStack().audit.begin({ entry: old, isMarked: false })
    expect(await onStack('audit', '--org', organizationId)).toMatchObject([{ id: entry.id }, { id: old.id }])
  })
})

describe('commands on the local table', () => {
  it('keep what they write as the variables of the service say', async () => {
    const environment = { AUDIT_RETENTION_DAYS: '30', EVENT_BUS: 'mine' }
    const { id } = await cli.json(['orgs', 'create', 'Local'], { environment })
    const items = await readLocalLog(id)
    const days = items.map(({ ttl }) => Math.round((Number(ttl) - Date.now() / 1000) / 86_400))
    expect([days, items.map((item) => 'openShard' in item)]).toEqual([[30], [true]])
  })

  it('are recorded with the user of this machine, also what fails', async () => {
    await cli.json(['publish', 'hello'])
    const { code } = await cli.run(['delete-version', 'hello', crypto.randomUUID()])
    expect(code).toBe(1)
    const { items } = await withStores(cli.dataDir, ({ audit }) =>
      audit.list({ organizationId: DEVELOPMENT_ORGANIZATION.id, limit: 10, after: null }),
    )
    expect(items).toMatchObject([
      { action: 'version.delete', result: 'FAILED', error: 'VersionNotFound' },
      {
        action: 'agent.publish',
        actor: { kind: 'cli', id: `${userName()}@${hostname()}` },
        source: { interface: 'CLI', host: hostname() },
        result: 'SUCCEEDED',
      },
    ])
  })
})
