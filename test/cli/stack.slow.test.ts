import { DeleteTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { provisionTable } from '../../local/emulators/provision.ts'
import { startSts } from '../support/service/fake-sts.ts'
import { sdkConfig } from '../support/tables/sdk.ts'
import { greeter, inFolder, newCli } from './cli.ts'

const cli = newCli()
const unique = `s${Date.now().toString(36)}`
const [stack, twin] = [`${unique}-prod`, `${unique}-twin`]
const tables = [
  `${stack}-Table8A1B-1ABC2DEF3GHI`,
  `${stack}-eu-Table8A1B-9ABC`,
  `${twin}-Table1-A1`,
  `${twin}-Table1-B2`,
]

let sts: Awaited<ReturnType<typeof startSts>>

/** The SDK's own variables point it at the emulators. */
const environment = {
  AWS_ENDPOINT_URL_STS: '',
  AWS_ENDPOINT_URL_DYNAMODB: inject('dynamodb'),
  AWS_REGION: 'local',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
}
const run = (...args: string[]) => cli.run([...args, '--stack', stack], { environment })
const json = (...args: string[]) => cli.json([...args, '--stack', stack], { environment })

beforeAll(async () => {
  sts = await startSts('arn:aws:iam::123456789012:user/ada')
  environment.AWS_ENDPOINT_URL_STS = sts.url
  for (const table of tables) await provisionTable(inject('dynamodb'), table)
  cli.write(inFolder('hello', greeter('Hello')))
})
afterAll(async () => {
  const client = new DynamoDBClient(sdkConfig(inject('dynamodb')))
  for (const TableName of tables) await client.send(new DeleteTableCommand({ TableName }))
  client.destroy()
  await sts.stop()
  cli.remove()
})

describe('--stack', () => {
  let org: { id: string }

  it('requires an organization', async () => {
    const { code, stderr } = await run('list')
    expect(code).toBe(1)
    expect(stderr).toBe(
      `The stack has no organizations. Create one: npm run agents -- orgs create --name <text> --stack ${stack}\n`,
    )
  })

  it('uses the only organization by default', async () => {
    org = await json('orgs', 'create', 'Example Ltd')
    await json('publish', 'hello')
    expect(await json('list')).toMatchObject([{ slug: 'hello', orgId: org.id }])
    const args = ['run', 'hello', '--input', '-', '--stack', stack]
    expect(await cli.json(args, { environment, stdin: '{"name":"Ada"}' })).toEqual({ said: 'Hello Ada' })
    expect((await cli.run(['publish', 'hello', '--stack', stack], { environment })).stdout).toContain(
      `run hello --input input.json --stack ${stack}`,
    )
  })

  it('requires --org if there are several organizations', async () => {
    const other = await json('orgs', 'create', 'Other')
    const { code, stderr } = await run('list')
    expect(code).toBe(1)
    expect(stderr).toContain(`${org.id}  Example Ltd\n`)
    expect(stderr).toContain(`${other.id}  Other\n`)
    expect(stderr).toContain('Select one with --org')
    expect(await json('list', '--org', other.id)).toEqual([])
  })

  it('lists the tables it found unless exactly one matches', async () => {
    const none = await cli.run(['list', '--stack', unique], { environment })
    expect(none.code).toBe(1)
    expect(none.stderr).toContain(
      `No table found for stack ${unique} in this AWS account and region. Similar tables: `,
    )
    for (const table of tables) expect(none.stderr).toContain(table)
    expect(none.stderr).toContain(`Deploy the stack: npx cdk deploy --context stackName=${unique}\n`)
    const several = await cli.run(['list', '--stack', twin], { environment })
    expect(several.stderr).toContain(`Stack ${twin} matches several tables: ${tables[2]}, ${tables[3]}.`)
    const named = await cli.json(['orgs', 'list', '--stack', tables[3] as string], { environment })
    expect(named).toEqual([])
  })

  it('prints AWS errors on one line', async () => {
    const unreachable = { ...environment, AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:9' }
    const { code, stderr } = await cli.run(['list', '--stack', stack], { environment: unreachable })
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'AWS: connect ECONNREFUSED 127.0.0.1:9\n' })
  })
})
