import { afterAll, describe, expect, it } from 'vitest'
import { requireEnv } from '../../../lib/environment.ts'
import { greeter, inFolder, newCli } from '../../cli/cli.ts'
import { describeDeployedFunctions } from '../../infra/bundling/deployed-functions.ts'
import { createInvoker } from '../../infra/bundling/invoke-deployed.ts'
import { STACK } from './deploy-stack.ts'
import { openStack } from './open-stack.ts'

const stack = await openStack(requireEnv('STACK_FOLDER'))

describe('the CLI with --stack', () => {
  const cli = newCli()
  cli.write(inFolder('hello', greeter('Hello')))
  const json = (args: string[], stdin = '') => cli.json([...args, '--stack', STACK], { stdin })
  const stops: (() => unknown)[] = [cli.remove]
  afterAll(async () => {
    for (const stop of stops) await stop()
  })
  let organizationId: string
  let versionId: string

  it('creates an organization, publishes an agent and lists it', async () => {
    organizationId = (await json(['orgs', 'create', 'Example Ltd'])).id
    const published = await json(['publish', 'hello', '--org', organizationId])
    versionId = published.versionId
    expect(await json(['list', '--org', organizationId])).toMatchObject([
      { slug: 'hello', id: published.agentId },
    ])
    expect(await json(['show', 'hello', '--org', organizationId])).toMatchObject({ id: published.agentId })
    expect(await json(['versions', 'hello', '--org', organizationId])).toMatchObject([{ id: versionId }])
  })

  it('runs an agent', async () => {
    const args = ['run', 'hello', '--input', '-', '--org', organizationId]
    expect(await json(args, '{"name":"Ada"}')).toEqual({ said: 'Hello Ada' })
  })

  it('creates a token that the deployed functions accept until it is revoked', async () => {
    const functions = createInvoker(stack, { organizationId, environment: {} })
    stops.push(functions.stop)
    const { id, token } = await json(['tokens', 'create', '--org', organizationId, '--name', 'test'])
    const event = {
      type: 'TOKEN',
      authorizationToken: `Bearer ${token}`,
      methodArn: 'arn:api/live/GET/v1/agents',
    }
    const context = { organizationId }
    expect(await functions.invoke('authorize-request', event)).toMatchObject({ payload: { context } })
    expect(await functions.read('list-agents')).toMatchObject([
      { slug: 'hello', currentVersionId: versionId },
    ])
    await json(['tokens', 'revoke', id, '--org', organizationId])
    expect(await functions.invoke('authorize-request', event)).toEqual({
      mode: 'failed',
      message: 'Unauthorized',
    })
  })
})

describe('the functions of the stack', () => describeDeployedFunctions(async () => stack))
