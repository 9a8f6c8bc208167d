import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createClient, waitForExecution } from '../support/service/client.ts'
import { type Service, startService } from '../support/service/start-service.ts'
import { inFolder, newCli } from './cli.ts'

const cli = newCli()
let service: Service
let call: ReturnType<typeof createClient>

const DOCUMENT = `---
title: Waits
description: Waits for a payment.
code: true
input: { seconds: { type: number, default: 0 } }
output: { got: { type: string, description: JSON. } }
---
`
const CODE = `export default async ({ seconds }, context) => {
  if (seconds > 0) await context.sleep('nap', seconds)
  return { got: JSON.stringify(await context.waitForSignal('paid')) }
}
`

beforeAll(async () => {
  cli.write(inFolder('waits', { 'agent.md': DOCUMENT, 'agent.ts': CODE }))
  await cli.json(['publish', 'waits', '--no-types'])
  service = await startService({ dataDir: cli.dataDir })
  call = createClient(service.url, readFileSync(join(cli.dataDir, 'dev-token'), 'utf8').trim())
})
afterAll(async () => {
  await service?.stop()
  expect(existsSync(join(cli.dataDir, 'service-url'))).toBe(false)
  cli.remove()
})

/** A suspended run. */
async function suspended(): Promise<string> {
  const { status, json } = await call('POST', '/v1/agents/waits/executions', { body: {} })
  expect(status).toBe(202)
  return json.id
}

const outputOf = async (id: string) => (await waitForExecution(call, id)).output

/** `agents run` as soon as it waits for the signal. */
async function waitingRun(stdin = '{}') {
  const started = cli.start(['run', 'waits', '--input', '-', '--json'], { stdin })
  const idOf = () => /signal (\S{36}) paid --data <json>/.exec(started.stderr())?.[1]
  const id = (await vi.waitUntil(idOf)) as string
  return { started, id }
}

describe('signal', () => {
  it.each([
    [['--data', '{"amount": 12.5}'], {}, '{"amount":12.5}'],
    [['--data', 'data.json'], {}, '[1]'],
    [['--data', '-'], { stdin: '"x"' }, '"x"'],
    [[], {}, 'null'],
  ])('sends data to a suspended run: %j', async (args, options, got) => {
    cli.write({ 'data.json': '[1]' })
    const id = await suspended()
    const sent = await cli.json(['signal', id, 'paid', ...args], options)
    expect(sent).toMatchObject({ executionId: id, id: expect.any(String) })
    expect(await outputOf(id)).toEqual({ got })
  })

  it('says why the service refuses it', async () => {
    const id = await suspended()
    const { stdout } = await cli.run(['signal', id, 'paid', '--idempotency-key', 'once'])
    expect(stdout).toBe(`Sent the signal paid to execution ${id}.\n`)
    await outputOf(id)
    expect(await cli.json(['signal', id, 'paid'], { code: 1 })).toMatchObject({
      error: { code: 'ExecutionEnded', message: expect.stringContaining('Cannot send the signal: ') },
    })
    const other = '01a2003b-8f87-750a-aa33-59d20cae9811'
    expect(await cli.json(['signal', other, 'paid'], { code: 1 })).toMatchObject({
      error: { code: 'ExecutionNotFound' },
    })
    const url = ['--url', service.url, '--token', 'aes_wrong']
    expect(await cli.json(['signal', id, 'paid', ...url], { code: 1 })).toMatchObject({
      error: { code: 'Unauthorized' },
    })
  })
})

describe('run', () => {
  it('waits with the service for what others send', async () => {
    const { started, id } = await waitingRun('{"seconds": 1}')
    await cli.json(['signal', id, 'paid', '--data', '5'])
    const { code, stdout, stderr } = await started.ended
    expect([code, JSON.parse(stdout)]).toEqual([0, { got: '5' }])
    expect(stderr).toMatch(/^Waits: nap, until .*\nWaits for the signal paid\n {2}npm run agents -- signal/)
  })

  it('leaves a run suspended on Ctrl-C', async () => {
    const { started, id } = await waitingRun()
    started.kill('SIGINT')
    const { code, stdout, stderr } = await started.ended
    expect([code, stdout]).toEqual([130, ''])
    expect(stderr).toContain(`Stopped waiting. Execution ${id} `)
    await cli.json(['signal', id, 'paid', '--data', '6'])
    expect(await outputOf(id)).toEqual({ got: '6' })
  })

  it('fails when the run is cancelled meanwhile', async () => {
    const { started, id } = await waitingRun()
    await call('POST', `/v1/agent_executions/${id}/cancel`)
    const { code, stdout } = await started.ended
    expect([code, JSON.parse(stdout).error.code]).toEqual([1, 'Cancelled'])
  })
})
