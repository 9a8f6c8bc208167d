import { DeleteTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { toItem } from '../../lib/dynamodb/executions/execution-item.ts'
import { OPEN_SHARDS, openShard } from '../../lib/dynamodb/table/keys.ts'
import { openTable } from '../../lib/dynamodb/table/table.ts'
import { ENDED_BY_OPERATOR } from '../../lib/engine/executions/open-executions.ts'
import { system } from '../../lib/system.ts'
import { provisionTable } from '../../local/emulators/provision.ts'
import { engineOn } from '../support/engine/engine-on.ts'
import { executionOf } from '../support/engine/executions.ts'
import { aModelAgent } from '../support/engine/model-agent.ts'
import { waitUntil } from '../support/processes/wait-until.ts'
import { inject as injectFault } from '../support/proxy/faults.ts'
import { startProxy } from '../support/proxy/start-proxy.ts'
import { sdkConfig } from '../support/tables/sdk.ts'
import { newCli } from './cli.ts'

const EXECUTIONS = 10_000
const stack = `Many-Restored-${Date.now().toString(36).toUpperCase()}`
const endpoint = inject('dynamodb')
const table = openTable({ TABLE_NAME: stack, DYNAMODB_ENDPOINT: endpoint })
const engine = engineOn(table)
const cli = newCli()
const command = ['open', 'end', '--all', '--json', '--stack', stack]
const organizationId = system.newId()
const LIST = { limit: 100, after: null, agentId: null, tenantId: null, status: null }

/** What finds the table and its settings has limits of its own at AWS. */
const CONTROL = ['ListTables', 'DescribeTable', 'ListTagsOfResource']
/** Four requests in a row: one that the SDK repeats three times can fail. */
let requests = 0
const proxy = await startProxy(
  endpoint,
  injectFault(({ operation }) =>
    !CONTROL.includes(operation) && requests++ % 1_000 < 4 ? 'throttle' : null,
  ),
)
const environment = {
  AWS_ENDPOINT_URL_DYNAMODB: proxy.url,
  AWS_REGION: 'local',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
}

beforeAll(async () => {
  await provisionTable(endpoint, stack)
  const version = await aModelAgent({ organizationId }, { table })
  const items = await Promise.all(
    Array.from({ length: EXECUTIONS }, () => toItem(table, executionOf(version))),
  )
  for (let from = 0; from < EXECUTIONS; from += 500)
    await table.writeMany(items.slice(from, from + 500).map((put) => ({ put })))
})
afterAll(async () => {
  await proxy.stop()
  const client = new DynamoDBClient(sdkConfig(endpoint))
  await client.send(new DeleteTableCommand({ TableName: stack }))
  client.destroy()
  cli.remove()
})

const countOpen = async () => {
  const shards = Array.from({ length: OPEN_SHARDS }, (_, shard) =>
    table.count('open-executions', openShard(shard)),
  )
  return (await Promise.all(shards)).reduce((sum, each) => sum + each)
}

describe('open end --all on 10,000 executions of a table that throttles', () => {
  it('ends each of them once, also if it is killed in the middle and repeated', {
    timeout: 600_000,
  }, async () => {
    expect(await countOpen()).toBe(EXECUTIONS)
    const killed = cli.start(command, { environment })
    const first = waitUntil(async () => (await countOpen()) < EXECUTIONS - 1_000, {
      what: 'the first 1,000',
      limitMs: 400_000,
    })
    expect(await Promise.race([first, killed.ended])).toBeUndefined()
    killed.kill('SIGKILL')
    await killed.ended
    expect(await countOpen()).toBeGreaterThan(0)
    // Each of these commands may be killed, too, by its time limit.
    while ((await countOpen()) > 0) await cli.start(command, { environment }).ended
    const summaries = await engine.executions.listSummaries({ ...LIST, organizationId })
    expect(summaries.items.map(({ status, error }) => [status, error])).toEqual(
      Array.from({ length: LIST.limit }, () => ['ERROR', ENDED_BY_OPERATOR]),
    )
    expect(await cli.start(command, { environment }).ended).toMatchObject({
      code: 0,
      stdout: `${JSON.stringify({ ended: 0, running: 0, closed: 0 }, null, 2)}\n`,
    })
  })
})
