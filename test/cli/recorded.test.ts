import { hostname } from 'node:os'
import { DeleteTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { AuditEntry } from '../../lib/core/audit.ts'
import { openStores } from '../../lib/dynamodb/open-stores.ts'
import { openTable } from '../../lib/dynamodb/table/table.ts'
import { DEVELOPMENT_ORGANIZATION, userName } from '../../local/development.ts'
import { provisionTable } from '../../local/emulators/provision.ts'
import { startSts } from '../support/service/fake-sts.ts'
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

describe('commands on the local table', () => {
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
