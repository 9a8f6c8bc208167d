import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createClient } from '../support/service/client.ts'
import { type Service, startService } from '../support/service/start-service.ts'
import { greeter, inFolder, newCli } from './cli.ts'

const ENDLESS = `
export default (_: unknown, { executionId }: { executionId: string }) => {
  process.stderr.write('began ' + executionId + ';')
  return new Promise(() => setInterval(() => undefined, 1_000))
}
`

const cli = newCli()
let service: Service

beforeAll(async () => {
  cli.write(inFolder('hello', greeter('Hello')))
  await cli.json(['publish', 'hello', '--no-types'])
  service = await startService({ dataDir: cli.dataDir })
})
afterAll(async () => {
  await service?.stop()
  cli.remove()
})

describe('the CLI while the service runs', () => {
  it('creates and revokes tokens of the service', async () => {
    const { id, token } = await cli.json(['tokens', 'create', '--name', 'test', '--expires', '1'])
    const call = createClient(service.url, token)
    const response = await call('POST', '/v1/agents/hello/executions', { body: { name: 'Ada' } })
    expect([response.status, response.json]).toEqual([200, { said: 'Hello Ada' }])
    await cli.json(['tokens', 'revoke', id])
    // The service caches authorizations for a moment.
    await vi.waitFor(async () => expect((await call('GET', '/v1/agents')).status).toBe(401))
  })

  it('publishes agents and records executions in its table', async () => {
    const { token } = await cli.json(['tokens', 'create', '--name', 'test'])
    const call = createClient(service.url, token)
    cli.write(inFolder('hello', greeter('Salut')))
    const { versionId } = await cli.json(['publish', 'hello', '--no-types'])
    // The service caches the current version for a second.
    await vi.waitFor(async () => {
      const response = await call('POST', '/v1/agents/hello/executions', { body: { name: 'Ada' } })
      expect(response.json).toEqual({ said: 'Salut Ada' })
    })
    expect(await cli.json(['list'])).toEqual((await call('GET', '/v1/agents')).json)
    expect(await cli.json(['versions', 'hello'])).toEqual(
      (await call('GET', '/v1/agents/hello/versions')).json,
    )

    const run = await cli.run(['run', 'hello', '--input', '-', '--tenant', 'acme'], {
      stdin: '{"name":"Bo"}',
    })
    const id = /execution ([0-9a-f-]{36})/.exec(run.stderr)?.[1]
    const execution = await call('GET', `/v1/agent_executions/${id}`)
    expect(execution.json).toMatchObject({
      status: 'SUCCESS',
      versionId,
      tenantId: 'acme',
      input: { name: 'Bo' },
      output: { said: 'Salut Bo' },
    })
  })

  it('records an interrupted execution as cancelled', async () => {
    cli.write(inFolder('slow', { ...greeter('x'), 'agent.ts': ENDLESS }))
    await cli.json(['publish', 'slow', '--no-types'])
    const started = cli.start(['run', 'slow', '--input', '-'], { stdin: '{}' })
    const idOf = () => /began (\S+);/.exec(started.stderr())?.[1]
    await vi.waitUntil(idOf)
    started.kill('SIGINT')
    expect((await started.ended).code).toBe(130)
    const { token } = await cli.json(['tokens', 'create', '--name', 'test'])
    const { json } = await createClient(service.url, token)('GET', `/v1/agent_executions/${idOf()}`)
    expect(json).toMatchObject({ status: 'ERROR', error: { code: 'Cancelled' } })
  })
})

describe('concurrent commands', () => {
  it('wait for each other on the same data folder', async () => {
    const other = newCli()
    try {
      const names = ['one', 'two', 'three']
      for (const name of names) other.write(inFolder(name, greeter(name)))
      const outcomes = await Promise.all(
        names.map((name) => other.start(['publish', name, '--no-types']).ended),
      )
      expect(outcomes.map(({ code }) => code)).toEqual(names.map(() => 0))
      const slugs = (await other.json(['list'])).map(({ slug }: { slug: string }) => slug)
      expect(slugs.sort()).toEqual([...names].sort())
    } finally {
      other.remove()
    }
  })
})
