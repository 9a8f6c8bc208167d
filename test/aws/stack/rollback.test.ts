import {
  GetAliasCommand,
  LambdaClient,
  ListFunctionsCommand,
  PublishVersionCommand,
  UpdateAliasCommand,
  UpdateFunctionConfigurationCommand,
} from '@aws-sdk/client-lambda'
import { describe, expect, it } from 'vitest'
import { runCommand } from '../../support/processes/processes.ts'
import { STACK } from './deploy-stack.ts'

const client = new LambdaClient()
const rollBack = (...args: string[]) => runCommand('node', ['cli/rollback.ts', '--stack', STACK, ...args])

async function functionNamed(part: string): Promise<string> {
  const { Functions = [] } = await client.send(new ListFunctionsCommand({ MaxItems: 50 }))
  const { FunctionName } = Functions.find((each) => each.FunctionName?.includes(part)) ?? {}
  if (!FunctionName) throw new Error(`The stack has no function ${part}.`)
  return FunctionName
}

const liveOf = async (FunctionName: string) =>
  (await client.send(new GetAliasCommand({ FunctionName, Name: 'live' }))).FunctionVersion

describe('npm run rollback', () => {
  it('points the alias of a changed function back, and forward again', async () => {
    const name = await functionNamed('CheckHealthFunction')
    const before = new Date().toISOString()
    await client.send(new UpdateFunctionConfigurationCommand({ FunctionName: name, Description: 'Changed' }))
    const { Version } = await client.send(new PublishVersionCommand({ FunctionName: name }))
    await client.send(new UpdateAliasCommand({ FunctionName: name, Name: 'live', FunctionVersion: Version }))
    await rollBack('--before', before, '--dry-run')
    expect(await liveOf(name)).toBe('2')
    await rollBack('--before', before)
    expect(await liveOf(name)).toBe('1')
    await rollBack('--before', new Date(Date.now() + 1_000).toISOString())
    expect(await liveOf(name)).toBe('2')
  })
})
