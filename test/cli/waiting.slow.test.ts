import { beforeAll, describe, expect, it } from 'vitest'
import { cliOfFile, inFolder } from './cli.ts'

const cli = cliOfFile({ hasDatabase: true })

const ID = '01a2003b-8f87-750a-aa33-59d20cae9811'

const DOCUMENT = `---
title: Waits
description: Waits for everything.
code: true
input: { for: { type: string } }
output: { got: { type: string, description: JSON. } }
---
`

const CODE = `
const RUNS = {
  approval: (context) => context.waitForApproval('refund', { title: 'Refund 200 dollars?', data: { usd: 200 } }),
  signal: (context) => context.waitForAny('money', { signals: ['paid', 'cancelled'] }),
  both: async (context) => [await context.sleep('nap', 86_400), await context.waitForSignal('paid')],
  time: (context) => context.sleep('nap', 0.3),
  minute: (context) => context.sleep('nap', 59.9),
}
export default async (input, context) => ({ got: JSON.stringify(await RUNS[input.for](context)) })
`

beforeAll(() => {
  cli.write(inFolder('waits', { 'agent.md': DOCUMENT, 'agent.ts': CODE }))
  for (const name of ['approval', 'signal', 'both', 'time', 'minute'])
    cli.write({ [`${name}.json`]: JSON.stringify({ for: name }) })
})

async function run(name: string, stdin: string) {
  const { code, stdout, stderr } = await cli.run(['run', './waits', '--input', `${name}.json`], { stdin })
  return { code, stderr, got: code === 0 ? JSON.parse(JSON.parse(stdout).got) : null }
}

describe('run with the folder of an agent that waits', () => {
  it('asks the user for a decision', async () => {
    const { got, stderr } = await run('approval', 'maybe\ny Ask for a receipt.\n')
    expect(got).toEqual({ decision: 'approve', data: { usd: 200 }, note: 'Ask for a receipt.', by: 'agents' })
    expect(stderr).toMatch(
      /^Waits for the approval refund: Refund 200 dollars\?, until \S+ \(in 7 days\)\n {2}\{"usd":200\}\nApprove\? y, n or t .*\nEnter y, n or t\.\nApprove\?/,
    )
  })

  it.each([
    ['y {"usd": 5}', { decision: 'approve', data: { usd: 5 }, note: null }],
    ['NO too much', { decision: 'reject', data: { usd: 200 }, note: 'too much' }],
    ['t', { decision: 'timeout', data: { usd: 200 }, note: null }],
    ['y {"usd": \nn', { decision: 'reject', data: { usd: 200 }, note: null }],
  ])('understands %j', async (line, decision) => {
    expect((await run('approval', `${line}\n`)).got).toMatchObject(decision)
  })

  it('asks for signals, and skips times', async () => {
    const { got } = await run('signal', 'lost 1\npaid {\npaid {"usd": 5}\n')
    expect(got).toEqual({ signal: 'paid', data: { usd: 5 } })
    expect((await run('both', '\n[1]\n')).got).toEqual([null, [1]])
    expect((await run('minute', '\n')).stderr).toMatch(/^Waits: nap, until \S+ \(in [456]\d seconds\)\n/)
  })

  it('goes on when its time has come, and fails at once if nobody can answer', async () => {
    expect(await run('time', '')).toMatchObject({ code: 0, got: null })
    const { code, stderr } = await run('approval', '')
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /The run waits for the approval refund, and standard input is closed: nobody can answer\..*\n$/,
    )
  })
})

describe('commands that continue runs', () => {
  it.each([
    [
      ['approvals'],
      /^No service runs on \S+data\. Start it with npm start, or use that of --url <base> and --token\.\n$/,
    ],
    [
      ['approvals', '--stack', 'Prod'],
      /^This goes through the service: use --url <base> and --token instead of --stack\.\n$/,
    ],
    [['approvals', '--url', 'http://127.0.0.1:9'], /--url needs an API token/],
    [
      ['signal', ID, 'paid', '--data', '{"a": 1'],
      /^--data must be JSON, a file that contains JSON, or -\. As JSON, it .+\.\n$/,
    ],
    [['approve', ID, 'a', '--input', 'nowhere.json'], /^nowhere\.json does not exist\.\n$/],
  ])('explain what is wrong with %j', async (args, message) => {
    const { code, stderr } = await cli.run(args)
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(message) })
  })
})
