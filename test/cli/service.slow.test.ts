import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createClient, createLocalClient, readDevToken, waitForExecution } from '../support/service/client.ts'
import { type Service, startService } from '../support/service/start-service.ts'
import { greeter, inFolder, newCli } from './cli.ts'

const cli = newCli()
let service: Service
let call: ReturnType<typeof createClient>

const WAITS = `---
title: Waits
description: Waits for a payment.
code: true
input: { seconds: { type: number, default: 0 }, asks: { type: boolean, default: false } }
output: { got: { type: string, description: JSON. } }
---
`
const WAITS_CODE = `export default async ({ seconds, asks }, context) => {
  const refund = () => context.waitForApproval('refund', { title: 'Refund 200 dollars?' })
  if (asks) return { got: JSON.stringify(await refund()) }
  if (seconds > 0) await context.sleep('nap', seconds)
  return { got: JSON.stringify(await context.waitForSignal('paid')) }
}
`

beforeAll(async () => {
  cli.write({
    ...inFolder('hello', greeter('Hello')),
    ...inFolder('waits', { 'agent.md': WAITS, 'agent.ts': WAITS_CODE }),
    'data.json': '[1]',
  })
  // Commands wait for each other on the same data folder.
  const slugs = ['hello', 'waits']
  const publishing = slugs.map((slug) => cli.start(['publish', slug, '--no-types']).ended)
  expect((await Promise.all(publishing)).map(({ code }) => code)).toEqual([0, 0])
  service = await startService({ dataDir: cli.dataDir })
  call = createLocalClient(service.url, cli.dataDir)
})
afterAll(async () => {
  await service?.stop()
  expect(existsSync(join(cli.dataDir, 'service-url'))).toBe(false)
  cli.remove()
})

describe('the CLI while the service runs', () => {
  it('creates and revokes tokens of the service', async () => {
    const { id, token } = await cli.json(['tokens', 'create', '--name', 'test', '--expires', '1'])
    const own = createClient(service.url, token)
    const response = await own('POST', '/v1/agents/hello/executions', { body: { name: 'Ada' } })
    expect([response.status, response.json]).toEqual([200, { said: 'Hello Ada' }])
    const listing = ['tokens', 'list', '--url', service.url, '--token']
    expect((await cli.json([...listing, token], { code: 1 })).error.code).toBe('Forbidden')
    expect(await cli.json([...listing, readDevToken(cli.dataDir)])).toContainEqual(
      expect.objectContaining({ id }),
    )
    await cli.json(['tokens', 'revoke', id])
    // The service caches authorizations for a moment.
    await vi.waitFor(async () => expect((await own('GET', '/v1/agents')).status).toBe(401))
  })

  it('publishes agents and records executions in its table', async () => {
    cli.write(inFolder('hello', greeter('Salut')))
    const { versionId } = await cli.json(['publish', 'hello', '--no-types'])
    // The service caches the current version for a second.
    await vi.waitFor(async () => {
      const response = await call('POST', '/v1/agents/hello/executions', { body: { name: 'Ada' } })
      expect(response.json).toEqual({ said: 'Salut Ada' })
    })
    const versions = (await call('GET', '/v1/agents/hello/versions')).json
    expect(await cli.json(['versions', 'hello'])).toEqual(versions)
    const args = ['run', 'hello', '--input', '-', '--tenant', 'acme']
    const { stderr } = await cli.run(args, { stdin: '{"name":"Bo"}' })
    const id = /execution ([0-9a-f-]{36})/.exec(stderr)?.[1]
    expect((await call('GET', `/v1/agent_executions/${id}`)).json).toMatchObject({
      ...{ status: 'SUCCESS', versionId, tenantId: 'acme', output: { said: 'Salut Bo' } },
    })
  })

  it('asks before it creates another data folder, which would not be that of the service', async () => {
    const other = join(cli.folder, 'other')
    const environment = { DATA_DIR: other }
    const runs = `The service at ${service.url} runs on ${cli.dataDir}. To use it, set DATA_DIR=${cli.dataDir}\n`
    const refused = await cli.run(['publish', 'hello', '--no-types'], { environment })
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(runs) })
    expect(refused.stderr).toMatch(
      /Create it\? Nobody can answer without a terminal: use --create-data-folder\.$/m,
    )
    expect((await cli.run(['dev', 'hello'], { environment })).code).toBe(1)
    expect((await cli.run(['approvals'], { environment })).stderr).toContain(
      `${runs}No service runs on ${other}.`,
    )
    const terminal = { environment, isTerminal: true }
    expect((await cli.run(['list'], { ...terminal, stdin: 'n\n' })).code).toBe(1)
    expect(existsSync(other)).toBe(false)
    expect((await cli.run(['list'], { ...terminal, stdin: 'y\n' })).code).toBe(0)
    expect(existsSync(other)).toBe(true)
    rmSync(other, { recursive: true })
    expect((await cli.run(['list', '--create-data-folder'], { environment })).code).toBe(0)
  })

  it('says what it works on', async () => {
    const { ended, stderr } = cli.start(['list'])
    await ended
    expect(stderr()).toBe('Working on data…\n')
    const waiting = cli.start(['approvals'])
    await waiting.ended
    expect(waiting.stderr()).toBe(`Working on data (${service.url})…\n`)
    const url = ['--url', service.url, '--token', readDevToken(cli.dataDir)]
    const published = await cli.run(['publish', 'hello', '--no-types', ...url])
    expect(published.stdout).toContain(`Published hello to ${service.url}.`)
  })
})

it('approvals lists what waits for a decision, and approve makes one', async () => {
  const { json } = await call('POST', '/v1/agents/waits/executions', { body: { asks: true } })
  const [{ id: approvalId }] = json.waitingFor
  expect((await cli.run(['approvals'])).stdout).toMatch(
    new RegExp(`\n${json.id} +${approvalId} +waits +Refund 200 dollars\\? +just now +in 7 days\n`),
  )
  const approved = await cli.run(['approve', json.id, approvalId, '--note', 'Ask for a receipt.'])
  expect(approved.stdout).toBe(`Approved (Ask for a receipt.). Execution ${json.id} continues.\n`)
  const { got } = (await waitForExecution(call, json.id)).output
  expect(JSON.parse(got)).toMatchObject({ decision: 'approve', note: 'Ask for a receipt.' })
})

describe('signal', () => {
  async function suspended(): Promise<string> {
    const { status, json } = await call('POST', '/v1/agents/waits/executions', { body: {} })
    expect(status).toBe(202)
    return json.id
  }
  const outputOf = async (id: string) => (await waitForExecution(call, id)).output

  it.each([
    [['--data', '{"amount": 12.5}'], {}, '{"amount":12.5}'],
    [['--data', 'data.json'], {}, '[1]'],
    [['--data', '-'], { stdin: '"x"' }, '"x"'],
    [[], {}, 'null'],
  ])('sends data to a suspended run: %j', async (args, options, got) => {
    const id = await suspended()
    const sent = await cli.json(['signal', id, 'paid', ...args], options)
    expect(sent).toMatchObject({ executionId: id, id: expect.any(String) })
    expect(await outputOf(id)).toEqual({ got })
  })

  it('says why the service refuses it', async () => {
    const other = '01a2003b-8f87-750a-aa33-59d20cae9811'
    expect(await cli.json(['signal', other, 'paid'], { code: 1 })).toMatchObject({
      error: { code: 'ExecutionNotFound', message: expect.stringContaining('Cannot send the signal: ') },
    })
  })

  it('continues a run of a command that waits with the service, and one that Ctrl-C left suspended', async () => {
    const start = async (stdin: string) => {
      const started = cli.start(['run', 'waits', '--input', '-', '--json'], { stdin })
      const idOf = () => /signal (\S{36}) paid --data <json>/.exec(started.stderr())?.[1]
      return { ...started, id: (await vi.waitUntil(idOf)) as string }
    }
    const waiting = await start('{"seconds": 1}')
    await cli.json(['signal', waiting.id, 'paid', '--data', '5'])
    const { code, stdout, stderr } = await waiting.ended
    expect([code, JSON.parse(stdout)]).toEqual([0, { got: '5' }])
    expect(stderr).toMatch(/^Waits: nap, until .*\nWaits for the signal paid\n {2}npx agent-execution signal/)
    const { id, kill, ended } = await start('{}')
    kill('SIGINT')
    const left = { code: 130, stdout: '', stderr: expect.stringContaining(`Execution ${id} `) }
    expect(await ended).toMatchObject(left)
    await cli.json(['signal', id, 'paid', '--data', '6'])
    expect(await outputOf(id)).toEqual({ got: '6' })
  })
})
