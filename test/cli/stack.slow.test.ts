import { hostname } from 'node:os'
import {
  DeleteTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  TagResourceCommand,
} from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { firstIdAt } from '../../lib/core/ids.ts'
import { openStores } from '../../lib/dynamodb/open-stores.ts'
import { type Item, openTable } from '../../lib/dynamodb/table/table.ts'
import { DEVELOPMENT_ORGANIZATION, userName } from '../../local/development.ts'
import { provisionTable } from '../../local/emulators/provision.ts'
import { inject as injectFaults } from '../support/proxy/faults.ts'
import { startProxy } from '../support/proxy/start-proxy.ts'
import { startSts } from '../support/service/fake-sts.ts'
import { scanTable, sdkConfig, withStores } from '../support/tables/sdk.ts'
import { greeter, inFolder, newCli } from './cli.ts'

const cli = newCli()
const unique = `s${Date.now().toString(36)}`
const [stack, twin] = [`${unique}-prod`, `${unique}-twin`]
const TABLE_NAME = `${stack}-Table8A1B-1ABC2DEF3GHI`
const tables = [TABLE_NAME, `${stack}-eu-Table8A1B-9ABC`, `${twin}-Table1-A1`, `${twin}-Table1-B2`]
const ARN = 'arn:aws:sts::123456789012:assumed-role/Operators/ada@example.com'
let sts: Awaited<ReturnType<typeof startSts>>
let silent: Awaited<ReturnType<typeof startSts>>

/** The SDK's own variables point it at the emulators. The others are of another service, and do not matter. */
const environment = {
  AWS_ENDPOINT_URL_STS: '',
  AWS_ENDPOINT_URL_DYNAMODB: inject('dynamodb'),
  AWS_REGION: 'local',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
  ...{ AUDIT_RETENTION_DAYS: '5', EXECUTION_RETENTION_DAYS: '5', EVENT_BUS: 'mine' },
}
const run = (...args: string[]) => cli.run([...args, '--stack', stack], { environment })
const json = (...args: string[]) => cli.json([...args, '--stack', stack], { environment })

beforeAll(async () => {
  sts = await startSts(ARN)
  silent = await startSts(null)
  environment.AWS_ENDPOINT_URL_STS = sts.url
  for (const table of tables) await provisionTable(inject('dynamodb'), table)
  cli.write(inFolder('hello', greeter('Hello')))
})
afterAll(async () => {
  const client = new DynamoDBClient(sdkConfig(inject('dynamodb')))
  for (const TableName of tables) await client.send(new DeleteTableCommand({ TableName }))
  client.destroy()
  await Promise.all([sts.stop(), silent.stop()])
  cli.remove()
})

const openStack = () => openStores(openTable({ TABLE_NAME, DYNAMODB_ENDPOINT: inject('dynamodb') }))
const entriesOf = async (organizationId: string) =>
  (await openStack().audit.list({ organizationId, limit: 100, after: null })).items

describe('--stack', () => {
  let org: { id: string }

  it('requires an organization, and uses the only one by default', async () => {
    const missing = `The stack has no organizations. Create one: npx agent-execution orgs create --name <text> --stack ${stack}\n`
    expect(await run('list')).toMatchObject({ code: 1, stderr: missing })
    org = await json('orgs', 'create', 'Example Ltd')
    await json('publish', 'hello')
    expect(await json('list')).toMatchObject([{ slug: 'hello', orgId: org.id }])
    const args = ['run', 'hello', '--input', '-', '--stack', stack]
    expect(await cli.json(args, { environment, stdin: '{"name":"Ada"}' })).toEqual({ said: 'Hello Ada' })
    expect((await run('publish', 'hello')).stdout).toContain(`--input input.json --stack ${stack}`)
  })

  it('records changes with the caller of AWS, and no token', async () => {
    const draft = await json('publish', 'hello', '--draft')
    const token = await json('tokens', 'create', '--name', 'ci')
    const rotated = await json('tokens', 'rotate', token.id, '--overlap', '1h')
    const entries = await entriesOf(org.id)
    for (const { actor, source, result } of entries)
      expect({ actor, source, result }).toEqual({
        actor: { kind: 'cli', id: ARN },
        source: { interface: 'CLI', host: hostname() },
        result: 'SUCCEEDED',
      })
    expect(entries.map(({ action, target }) => [action, target.id]).slice(0, 4)).toEqual([
      ['token.revoke', token.id],
      ['token.create', rotated.id],
      ['token.create', token.id],
      ['agent.publish', draft.agentId],
    ])
    for (const { token: text } of [token, rotated]) expect(JSON.stringify(entries)).not.toContain(text)
  })

  it('changes nothing if AWS does not say who the caller is, whom reading does not need', async () => {
    const before = await json('orgs', 'list')
    const unknown = { environment: { ...environment, AWS_ENDPOINT_URL_STS: silent.url } }
    const { code, stderr } = await cli.run(['orgs', 'create', 'Other', '--stack', stack], unknown)
    expect([code, stderr]).toEqual([1, expect.stringContaining('AWS STS did not say who you are')])
    expect(await cli.json(['orgs', 'list', '--stack', stack], unknown)).toEqual(before)
  })

  it('prints what AWS says of a change that fails', async () => {
    const faults = injectFaults(({ operation }) => (operation === 'PutItem' ? 'throttle' : null))
    const proxy = await startProxy(inject('dynamodb'), faults)
    onTestFinished(proxy.stop)
    const throttled = { ...environment, AWS_ENDPOINT_URL_DYNAMODB: proxy.url }
    const { code, stdout, stderr } = await cli.run(['archive', 'hello', '--stack', stack], {
      environment: throttled,
    })
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(/^AWS: \w+Exception: .*\n$/)])
  })

  it('requires --org if there are several organizations', async () => {
    const other = await json('orgs', 'create', 'Other')
    const { code, stderr } = await run('list')
    expect(code).toBe(1)
    for (const text of [`${org.id}  Example Ltd\n`, `${other.id}  Other\n`, 'Select one with --org'])
      expect(stderr).toContain(text)
    expect(await json('list', '--org', other.id)).toEqual([])
  })

  it('lists the tables it found unless exactly one matches', async () => {
    const { code, stderr } = await cli.run(['list', '--stack', unique], { environment })
    expect(code).toBe(1)
    expect(stderr).toContain(
      `No table found for stack ${unique} in this AWS account and region. Similar tables: `,
    )
    for (const table of tables) expect(stderr).toContain(table)
    const several = await cli.run(['list', '--stack', twin], { environment })
    expect(several.stderr).toContain(`Stack ${twin} matches several tables: ${tables[2]}, ${tables[3]}.`)
    expect(await cli.json(['orgs', 'list', '--stack', String(tables[3])], { environment })).toEqual([])
  })

  it('prints AWS errors on one line', async () => {
    const unreachable = { ...environment, AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:9' }
    const { code, stderr } = await cli.run(['list', '--stack', stack], { environment: unreachable })
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'AWS: connect ECONNREFUSED 127.0.0.1:9\n' })
  })
})

describe('what commands write', () => {
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
    const { id: org } = await json('orgs', 'create', 'Kept')
    const [{ id } = { id: '' }] = await entriesOf(org)
    const [item = {}] = await itemsOf(id)
    return item
  }

  it('is kept for ten years if the table has no tag', async () => {
    const item = await change()
    expect([daysOf(item), 'openShard' in item]).toEqual([3_650, true])
  })

  it('is kept as the tag says, listed that long, and only marked if the stack has an event bus', async () => {
    await tagTable('AUDIT_RETENTION_DAYS=30 EXECUTION_RETENTION_DAYS=20 MAX_WAIT_DAYS=10')
    const item = await change()
    expect([daysOf(item), 'openShard' in item]).toEqual([30, false])
    const org = String(item.organizationId)
    await json('publish', 'hello', '--org', org)
    const args = ['run', 'hello', '--input', '-', '--org', org, '--stack', stack]
    const { stderr } = await cli.run(args, { environment, stdin: '{"name":"Ada"}' })
    const [, executionId = ''] = /^execution (\S+),/m.exec(stderr) ?? []
    expect((await itemsOf(executionId)).map(daysOf)).toEqual([20])

    const at = Date.now() - 20 * 86_400_000
    const entry = (await entriesOf(org)).at(-1)
    if (!entry) throw new Error('There is no entry.')
    const old = { ...entry, id: `${firstIdAt(at)}-${entry.id.slice(14)}`, at: new Date(at).toISOString() }
    await openStack().audit.begin({ entry: old, isMarked: false })
    expect((await json('audit', '--org', org)).at(-1)).toMatchObject({ id: old.id })

    await tagTable('AUDIT_RETENTION_DAYS=30 EVENT_BUS=on')
    expect('openShard' in (await change())).toBe(true)
  })

  it('is recorded locally with the user of this machine, also what fails', async () => {
    await cli.json(['publish', 'hello'])
    expect((await cli.run(['delete-version', 'hello', crypto.randomUUID()])).code).toBe(1)
    const { items } = await withStores(cli.dataDir, ({ audit }) =>
      audit.list({ organizationId: DEVELOPMENT_ORGANIZATION.id, limit: 10, after: null }),
    )
    const actor = { kind: 'cli', id: `${userName()}@${hostname()}` }
    expect(items).toMatchObject([
      { action: 'version.delete', actor, result: 'FAILED', error: 'VersionNotFound' },
      { action: 'agent.publish', actor, source: { interface: 'CLI', host: hostname() }, result: 'SUCCEEDED' },
    ])
  })
})
