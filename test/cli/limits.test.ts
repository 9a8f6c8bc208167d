import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import { newCli } from './cli.ts'

const cli = newCli()
afterAll(cli.remove)

let own: TestOrganization
let agentId: string
beforeAll(async () => {
  own = await newOrganization()
  agentId = (await own.publish('echo')).agentId
})

const run = (args: string[]) =>
  cli.run(['limits', ...args, '--url', inject('service')], { environment: { AGENTS_TOKEN: own.token } })
async function json(args: string[]) {
  const { code, stdout, stderr } = await run([...args, '--json'])
  if (code !== 0) throw new Error(stdout + stderr)
  return JSON.parse(stdout)
}

describe('limits', () => {
  it('are set, shown, listed and deleted, of tenants and agents', async () => {
    expect((await run(['list'])).stdout).toBe(
      'There are no limits. Set some: npm run agents -- limits set --tenant <id> --max-open <number>\n',
    )
    const tenantId = 'Müller & Söhne / 100%'
    const costs = ['--max-cost-per-day', '0.5', '--max-cost-per-month', '400', '--warn-at', '.8']
    const set = ['set', '--tenant', tenantId, '--max-open', '5', '--queue-when-full', ...costs]
    const fields = {
      ...{ maxOpenExecutions: 5, maxRunsPerMinute: null, maxCostUsd: { day: 0.5, month: 400 } },
      ...{ warnAt: 0.8, queueWhenFull: true },
    }
    expect(await json(set)).toMatchObject({ tenantId, ...fields })
    const used = { spentUsd: { day: 0, month: 0 }, openExecutions: 0 }
    expect(await json(['show', '--tenant', tenantId])).toMatchObject({ tenantId, ...fields, ...used })
    expect((await run(['show', '--tenant', tenantId])).stdout).toBe(
      [
        'open             0 of 5; others wait',
        'runs per minute  no limit',
        'cost per day     $0 of $0.5',
        'cost per month   $0 of $400',
        'warning          at 80 % of a cost limit\n',
      ].join('\n'),
    )
    const agent = await run(['set', '--agent', 'echo', '--max-runs-per-minute', '60'])
    expect(agent.stdout).toMatch(/^Set the limits of the agent echo\.\nopen +no limit\nruns per minute +60\n/)
    expect(await json(['list', '--kind', 'agent'])).toMatchObject([{ agentId, maxRunsPerMinute: 60 }])
    expect((await run(['list'])).stdout).toMatch(
      /agent +echo +- +60 +- +-\ntenant +Müller & Söhne \/ 100% +5 \(queue\) +- +\$0\.5 +\$400\n/,
    )
    const deleted = await run(['delete', '--agent', agentId])
    expect(deleted.stdout).toBe(`Deleted the limits of the agent ${agentId}.\n`)
    expect(await json(['delete', '--tenant', tenantId])).toEqual({ tenantId, deleted: true })
    expect(await json(['list'])).toEqual([])
  })

  it.each<[string[], RegExp]>([
    [['set', '--max-open', '5'], /either --tenant or --agent/],
    [['set', '--tenant', 'a', '--agent', 'echo', '--max-open', '5'], /either --tenant or --agent/],
    [['set', '--tenant', 'a', '--warn-at', '0.5'], /at least one of --max-open/],
    [['set', '--tenant', 'a', '--max-open', '0'], /an integer from 1 to 10000/],
    [['set', '--tenant', 'a', '--max-cost-per-day', '-1'], /a number from 0.000001 to 1000000/],
    [['set', '--tenant', 'a', '--max-open', '5', '--warn-at', '80'], /above 0 and at most 1/],
    [['set', '--tenant', '..', '--max-open', '5'], /must not be "\." or "\.\."/],
    [['set', '--tenant', 'a\nb', '--max-open', '5'], /no control characters/],
    [['set', '--agent', 'unknown', '--max-open', '5'], /Cannot set the limits: .*no agent/],
    [['show', '--tenant', 'none'], /Cannot read the limits: .*has no limits/],
    [['delete', '--tenant', 'none'], /Cannot delete the limits: .*has no limits/],
    [['list', '--kind', 'token'], /tenant, agent/],
  ])('%j explains what is wrong', async (args, message) => {
    const { code, stderr, stdout } = await run(args)
    expect([code !== 0, stdout + stderr]).toEqual([true, expect.stringMatching(message)])
  })
})
