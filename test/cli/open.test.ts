import { DeleteTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { openTable } from '../../lib/dynamodb/table/table.ts'
import { system } from '../../lib/system.ts'
import { provisionTable } from '../../local/emulators/provision.ts'
import { engineOn } from '../support/engine/engine-on.ts'
import { executionOf, modelStep, NO_PROGRESS, toolCall } from '../support/engine/executions.ts'
import { aModelAgent, finalAnswer } from '../support/engine/model-agent.ts'
import { sdkConfig } from '../support/tables/sdk.ts'
import { newCli } from './cli.ts'

const cli = newCli()
const stack = `Prod-Restored-${Date.now().toString(36).toUpperCase()}`
const endpoint = inject('dynamodb')
const table = openTable({ TABLE_NAME: stack, DYNAMODB_ENDPOINT: endpoint })
const engine = engineOn(table)
const environment = {
  AWS_ENDPOINT_URL_DYNAMODB: endpoint,
  AWS_REGION: 'local',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
}
const run = (...args: string[]) => cli.run(['open', ...args, '--stack', stack], { environment })
const json = (args: string[], code = 0) =>
  cli.json(['open', ...args, '--stack', stack], { environment, code })

const pay = {
  name: 'pay',
  description: 'Pays.',
  input: {},
  http: { method: 'POST', url: 'https://pay.example/', allowedHosts: ['pay.example'] },
}

async function open(slug: string, overrides: Parameters<typeof executionOf>[1] = {}) {
  const version = await aModelAgent({ slug, tools: slug === 'pay' ? [pay] : [] }, { table })
  const execution = executionOf(version, overrides)
  await engine.executions.create({ execution })
  return execution
}

beforeAll(() => provisionTable(endpoint, stack))
afterAll(async () => {
  const client = new DynamoDBClient(sdkConfig(endpoint))
  await client.send(new DeleteTableCommand({ TableName: stack }))
  client.destroy()
  cli.remove()
})

describe('open', () => {
  it('lists age, steps, tool calls, worker and parent, oldest first', async () => {
    const paying = await open('pay', { now: Date.now() - 3 * 3_600_000 })
    const lease = { owner: system.newId(), expiresAt: Date.now() + 60_000 }
    await engine.executions.claim({ id: paying.id, lease, now: Date.now() })
    const calls = [toolCall('a', 'pay'), toolCall('b', 'pay'), { id: 'c', error: null, ...finalAnswer({}) }]
    await engine.steps.append({
      executionId: paying.id,
      owner: lease.owner,
      step: modelStep({ calls, finishedAt: new Date(Date.now() - 2 * 3_600_000).toISOString() }),
      progress: NO_PROGRESS,
    })
    const asking = await open('ask', { parent: { executionId: paying.id, callers: [] } })
    const { stdout } = await run('list')
    const [header, ...rows] = stdout.split('\n')
    expect(header?.replaceAll(/ {2,}/g, '|')).toBe(
      'EXECUTION|AGENT|ACCEPTED|STEPS|LAST STEP|TOOL CALLS|WORKER|PARENT',
    )
    expect(rows.slice(0, 2).map((row) => row.split(/ {2,}/))).toEqual([
      [paying.id, 'pay', '3 hours ago', '1', '2 hours ago', '2', 'running', '-'],
      [asking.id, 'ask', 'just now', '0', '-', 'no tools', '-', paying.id],
    ])
    expect(stdout).toContain('\n1  pay\n')
    expect((await run('list', '--limit', '1')).stdout).toContain('\n1 of 2 are shown (--limit).\n')
    expect(await json(['list', '--tools'])).toMatchObject({
      open: 1,
      executions: [{ id: paying.id, toolCalls: 2, hasTools: true, isRunning: true, steps: 1 }],
    })
  })

  it('skips what a worker is running, with exit code 1, until it is forced', async () => {
    const skipped = await run('end', '--tools')
    expect(skipped).toMatchObject({
      code: 1,
      stdout: 'Ended 0 executions.\nSkipped 1 execution. A worker is running them; --force ends them too.\n',
    })
    expect(await json(['end', '--tools', '--force'])).toEqual({ ended: 1, running: 0, closed: 0 })
  })

  it('resumes and ends by ID, and names what is not in progress', async () => {
    const [first, second] = [await open('ask'), await open('ask')]
    const unknown = system.newId()
    const others = { running: 0, closed: 0 }
    expect(await json(['resume', first.id])).toEqual({ resumed: 1, ...others, notOpen: [] })
    expect(await json(['end', first.id, unknown], 1)).toEqual({ ended: 1, ...others, notOpen: [unknown] })
    expect((await run('end', first.id)).stdout).toContain(`${first.id} is not in progress.\n`)
    expect((await engine.executions.getSummary(second))?.status).toBe('IN_PROGRESS')
  })
})
