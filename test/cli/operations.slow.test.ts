import { beforeAll, describe, expect, inject, it } from 'vitest'
import { toScoreSums } from '../../lib/core/score-statistics.ts'
import { INTERVAL_MS, startOf } from '../../lib/core/usage.ts'
import { auditStore } from '../../lib/dynamodb/audit-store.ts'
import { usageStore } from '../../lib/dynamodb/usage-store.ts'
import { system } from '../../lib/system.ts'
import { newOrganization, sharedTable, type TestOrganization } from '../support/engine/organization.ts'
import { getExecutionId } from '../support/service/client.ts'
import { aUsageRow } from '../support/usage/memory-usage.ts'
import { cliOfFile } from './cli.ts'

const cli = cliOfFile({ hasDatabase: true })

const UNKNOWN = '01a2003a-d1f2-7169-a695-5ea4428d9251'
const minute = startOf('minute', Date.now()) - INTERVAL_MS.minute
const hour = new Date(startOf('hour', minute)).toISOString().replace('.000Z', 'Z')

let own: TestOrganization
let agentId: string
beforeAll(async () => {
  own = await newOrganization()
  agentId = (await own.publish('echo')).agentId
  await own.publish('wait')
  const rows = [
    aUsageRow({ tenantId: 'acme', agentId, runs: 3, costNanoUsd: 1_234_567_890, inputTokens: 1_000 }),
    aUsageRow({ tenantId: '=cmd', agentId, errors: { AgentFailed: 1 }, costNanoUsd: 1_234, unpricedRuns: 1 }),
    aUsageRow({ tenantId: 'tiny', agentId, costNanoUsd: 123 }),
    aUsageRow({ agentId, versionId: UNKNOWN, scorer: 'faithful', scores: toScoreSums(0.25, true), runs: 0 }),
  ]
  const slot = { organizationId: own.id, interval: 'minute', start: minute, isFinal: false } as const
  await usageStore(sharedTable()).put({ ...slot, rows, readAt: Date.now() })
})

const run = (args: string[], { token = own.token, stdin = '' } = {}) =>
  cli.run([...args, '--url', inject('service')], { environment: { AGENTS_TOKEN: token }, stdin })
async function json(args: string[], stdin = '') {
  const { code, stdout, stderr } = await run([...args, '--json'], { stdin })
  if (code !== 0) throw new Error(stdout + stderr)
  return JSON.parse(stdout)
}
const print = async (...args: string[]) => (await run(args)).stdout

describe('webhooks', () => {
  it('are created, listed, shown, changed and deleted', async () => {
    expect(await print('webhooks', 'list')).toBe(
      `There are no webhooks. Create one: npx agent-execution webhooks create <url> --url ${inject('service')}\n`,
    )
    const created = await run(['webhooks', 'create', 'https://shop.example/', '--agents', 'echo'])
    expect(created).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^whsec_\S+\n$/),
      stderr: expect.stringMatching(
        /^Created webhook \S{36}\. [\s\S]*not shown again\.\n.* webhooks test \S{36} --url \S+\n$/,
      ),
    })
    const [{ id, ...webhook }] = await json(['webhooks', 'list'])
    expect(webhook).toMatchObject({ url: 'https://shop.example/', agents: [agentId], tenants: null })
    const options = '--agents all --tenants acme,globex --types execution.failed --disable'.split(' ')
    expect(await json(['webhooks', 'update', id, ...options])).toMatchObject({
      ...{ agents: null, tenants: ['acme', 'globex'], types: ['execution.failed'], enabled: false },
    })
    expect(await print('webhooks', 'show', id)).toContain('tenants        acme, globex\n')
    expect(await print('webhooks', 'list')).toContain('https://shop.example/  disabled')
    expect(await print('webhooks', 'rotate', id)).toMatch(/^whsec_\S+\n$/)
    expect(await print('webhooks', 'deliveries', id)).toBe('Nothing was sent to this webhook yet.\n')
    expect(await json(['webhooks', 'delete', id])).toEqual({ id, deleted: true })
  })
})

describe('limits', () => {
  it('are set, shown, listed and deleted, of tenants and agents', async () => {
    expect(await print('limits', 'list')).toBe(
      'There are no limits. Set some: npx agent-execution limits set --tenant <id> --max-open <number>\n',
    )
    const tenantId = 'Müller & Söhne / 100%'
    const costs = '--max-cost-per-day 0.5 --max-cost-per-month 400 --warn-at .8'.split(' ')
    const set = ['limits', 'set', '--tenant', tenantId, '--max-open', '5', '--queue-when-full', ...costs]
    const fields = {
      ...{ maxOpenExecutions: 5, maxRunsPerMinute: null, maxCostUsd: { day: 0.5, month: 400 } },
      ...{ tenantId, warnAt: 0.8, queueWhenFull: true },
    }
    expect(await json(set)).toMatchObject(fields)
    expect(await json(['limits', 'show', '--tenant', tenantId])).toMatchObject({
      ...{ ...fields, spentUsd: { day: 0, month: 0 }, openExecutions: 0 },
    })
    const month = new Date().toISOString().slice(0, 7)
    expect(await print('limits', 'show', '--tenant', tenantId)).toBe(
      [
        'open             0 of 5; others wait',
        'runs per minute  no limit',
        'cost per day     $0 of $0.5',
        'cost per month   $0 of $400',
        `costs count      from ${month}-01 on (UTC)`,
        'warning          at 80 % of a cost limit\n',
      ].join('\n'),
    )
    expect(await print('limits', 'set', '--agent', 'echo', '--max-runs-per-minute', '60')).toMatch(
      /^Set the limits of the agent echo\.\nopen +no limit\nruns per minute +60\n/,
    )
    expect(await json(['limits', 'list', '--kind', 'agent'])).toMatchObject([
      { agentId, maxRunsPerMinute: 60 },
    ])
    expect(await print('limits', 'list')).toMatch(
      /agent +echo +- +60 +- +-\ntenant +Müller & Söhne \/ 100% +5 \(queue\) +- +\$0\.5 +\$400\n/,
    )
    expect(await print('limits', 'delete', '--agent', agentId)).toBe(
      `Deleted the limits of the agent ${agentId}.\n`,
    )
    expect(await json(['limits', 'delete', '--tenant', tenantId])).toEqual({ tenantId, deleted: true })
  })
})

describe('schedules', () => {
  it('are set, listed, shown, paused, resumed, run and deleted', async () => {
    expect(await print('schedules', 'list', 'echo')).toBe(
      'The agent has no schedules. Create one: npx agent-execution schedules set echo <name> --cron <expression>\n',
    )
    const input = '{"text":"x"}'
    const options = '--timezone Europe/Berlin --overlap allow --catch-up 60 --cache'.split(' ')
    const set = ['schedules', 'set', 'echo', 'nightly', '--cron', '0 3 * * *', ...options]
    const fields = {
      ...{ name: 'nightly', cron: '0 3 * * *', timezone: 'Europe/Berlin', overlap: 'allow' },
      ...{ catchUpSeconds: 60, tenantId: null, version: null, options: { useCache: true } },
      input: { text: 'x' },
    }
    expect(await json([...set, '--input', input, '--paused'])).toMatchObject({ ...fields, enabled: false })
    expect(await print('schedules', 'list', 'echo')).toMatch(
      /nightly +0 3 \* \* \* +Europe\/Berlin +paused +-\n/,
    )
    cli.write({ 'input.json': input })
    for (const [source, stdin] of [['input.json'], ['-', input]] as const)
      expect(await json([...set, '--input', source], stdin)).toMatchObject({ ...fields, enabled: true })
    const paused = await json(['schedules', 'pause', 'echo', 'nightly'])
    expect(paused).toMatchObject({ ...fields, enabled: false, nextRunAt: null })
    expect(await print('schedules', 'resume', 'echo', 'nightly')).toMatch(
      /^Resumed the schedule nightly\. It runs next in \d+ \w+\.\n$/,
    )
    expect(await print('schedules', 'get', 'echo', 'nightly')).toContain(
      'cron        0 3 * * * (Europe/Berlin)\n',
    )
    const fired = { source: 'SCHEDULE', scheduleName: 'nightly' }
    expect(await json(['schedules', 'run', 'echo', 'nightly'])).toMatchObject(fired)
    const deleted = await json(['schedules', 'delete', 'echo', 'nightly'])
    expect(deleted).toEqual({ name: 'nightly', deleted: true })
  })
})

describe('usage', () => {
  it('is a table, by hour', async () => {
    const table = await print('usage', '--group-by', 'tenant,agent')
    expect(table.replaceAll(/ +/g, ' ')).toBe(
      `START TENANT AGENT RUNS FAILED CACHED TOKENS IN TOKENS OUT COST
${hour} =cmd echo 1 1 0 0 0 $0.00000123+
${hour} acme echo 3 0 0 1000 0 $1.23
${hour} tiny echo 1 0 0 0 0 $0.000000123
`,
    )
    expect(await print('usage', '--interval', 'day')).toContain(`${hour.slice(0, 10)}T00:00:00Z  5 `)
  })

  it('is CSV, as the service writes it', async () => {
    const csv = await print('usage', '--group-by', 'tenant', '--csv')
    const { text } = await own.call('GET', '/v1/usage?groupBy=tenant', { headers: { Accept: 'text/csv' } })
    expect(csv).toBe(text)
    expect(csv).toContain(`\r\n${hour},"'=cmd",1,0,1,"{""AgentFailed"":1}",0,0,0,0,0,0,0.000001234,0,1,0\r\n`)
  })
})

describe('scores', () => {
  it('are a table by day, and one of the agreement with people', async () => {
    expect((await print('scores', 'echo')).replaceAll(/ +/g, ' ')).toBe(
      `DAY SCORER VERSION RUNS MEAN LOW FAILED
${hour.slice(0, 10)} faithful ${UNKNOWN} 1 0.25 1 0

No run with a score was reviewed.
`,
    )
    expect(await json(['scores', 'wait'])).toEqual({ scores: [], agreement: [] })
  })
})

describe('rerun and compare', () => {
  const newExecution = async (text: string) => getExecutionId(await own.run('echo', { text }))

  it('start a run, wait for it with --wait, and say how to compare the two', async () => {
    const id = await newExecution('x')
    const [, again = ''] = /^Execution (\S+) repeats/.exec(await print('rerun', id)) ?? []
    expect(await own.getExecution(again)).toMatchObject({ originalExecutionId: id, source: 'API' })
    const { stdout } = await run(['rerun', id, '--wait'])
    expect(stdout).toContain('The results are the same.')
    const options = ['--steps', 'recorded', '--ignore', '/at,/b', '--wait']
    expect(await json(['rerun', id, ...options])).toMatchObject({
      ...{ source: 'TRIAL', originalExecutionId: id, status: 'SUCCESS' },
    })
  })

  it('show two executions side by side, and what differs', async () => {
    const [left, right] = [await newExecution('x'), await newExecution('y\u001b[31m')]
    const stdout = await print('compare', left, right)
    expect(stdout).toMatch(new RegExp(`LEFT +RIGHT\\nexecution +${left} +${right}\\n`))
    expect(stdout).toContain('/output/text\n  - "x"\n  + "y')
    expect(stdout).not.toContain('\u001b')
  })
})

describe('audit', () => {
  let changed: TestOrganization
  let tokenId: string
  beforeAll(async () => {
    changed = await newOrganization()
    await changed.publish('echo')
    tokenId = (await changed.call('GET', '/v1/me')).json.tokenId
    for (const body of [{ maxOpenExecutions: 3, maxCostUsd: { day: 5 } }, { maxOpenExecutions: 0 }])
      await changed.call('PUT', '/v1/tenants/acme/limits', { body })
    for (const verb of ['archive', 'restore']) await changed.call('POST', `/v1/agents/echo/${verb}`)
  })
  const overHttp = (args: string[]) => run(['audit', ...args], { token: changed.token })
  it('lists the changes, newest first, with agents by their slugs', async () => {
    const { stdout } = await overHttp([])
    const [header, ...lines] = stdout.trimEnd().split('\n')
    expect(header).toMatch(/^TIME +ACTION +TARGET +OF +BY +VIA +RESULT +CHANGES$/)
    expect(lines[0]).toMatch(/Z {2}agent\.restore +echo +- +\S.* +HTTP 127\.0\.0\.1 +succeeded +-$/)
    expect(lines.find((line) => /limits\.put.*succeeded/.test(line))).toMatch(
      / acme +- .* maxOpenExecutions: 3; maxCostUsd\.day: 5$/,
    )
    expect(lines.find((line) => line.includes('failed'))).toMatch(/failed: \w+ +maxOpenExecutions: 0$/)
  })

  it('shows texts of others on one line, and tells a change without a result from one in progress', async () => {
    const other = await newOrganization()
    const entry = (ageMs: number, name: string) => ({
      ...{ id: system.newId(), organizationId: other.id, at: new Date(Date.now() - ageMs).toISOString() },
      actor: { kind: 'token' as const, id: tokenId, name },
      source: { interface: 'HTTP' as const, userAgent: 'a\nb' },
      ...{ action: 'limits.delete' as const, target: { kind: 'tenant' as const, id: 'x\n\u001b[31my' } },
      ...{ changes: {}, result: 'STARTED' as const },
    })
    const store = auditStore(sharedTable())
    await store.begin({ entry: entry(600_000, 'stuck\u202e\r\n'), isMarked: false })
    await store.begin({ entry: entry(0, 'busy'), isMarked: false })
    const { stdout } = await run(['audit'], { token: other.token })
    expect(stdout).not.toMatch(/\p{Cf}|(?!\n)\p{Cc}/u)
    const [, ...lines] = stdout.trimEnd().split('\n')
    expect(lines).toEqual([
      expect.stringMatching(/ x \[31my +- +busy +HTTP +in progress +-$/),
      expect.stringMatching(/ stuck +HTTP +outcome unknown +-$/),
    ])
  })
})

it.each<[string, RegExp]>([
  ['webhooks create http://shop.example/', /Cannot create the webhook: \/url must start with https:\/\//],
  ['webhooks create https://shop.example/ --agents Echo!', /neither a slug nor an ID/],
  ['webhooks update x', /Nothing to change/],
  ['webhooks update x --enable --disable', /cannot be combined/],
  ['webhooks show ../agents', /Cannot show the webhook: Your organization has no webhook/],
  ['limits set --max-open 5', /either --tenant or --agent/],
  ['limits set --tenant a --warn-at 0.5', /at least one of --max-open/],
  ['limits set --tenant a --max-open 0', /an integer from 1 to 10000/],
  ['limits set --tenant a --max-cost-per-day -1', /a number from 0.000001 to 1000000/],
  ['limits set --tenant a --max-open 5 --warn-at 80', /above 0 and at most 1/],
  ['limits set --tenant .. --max-open 5', /must not be "\." or "\.\."/],
  ['limits set --agent unknown --max-open 5', /Cannot set the limits: .*no agent/],
  ['limits show --tenant none', /Cannot read the limits: .*has no limits/],
  ['limits delete --tenant none', /Cannot delete the limits: .*has no limits/],
  ['schedules set echo x', /required option '--cron/],
  ['schedules set echo x --cron never', /Cannot set the schedule: .*cron/],
  ['schedules set echo x --cron @daily --input {"a":', /--input must be a JSON object, .* not valid JSON/],
  ['schedules set echo x --cron @daily --overlap maybe', /Allowed choices are skip, allow/],
  ['schedules get echo ..', /'\.\.' is invalid for argument 'name'\. It must have 1 to 64/],
  ['schedules pause echo missing', /Cannot pause the schedule/],
  ['usage --group-by tenants', /It must be a list of tenant, agent, version, model and token/],
  ['usage --from yesterday', /It must be a date and time with a time zone/],
  ['usage --from 2026-02-30', /It must be a date and time with a time zone/],
  [
    'usage --from 2000-01-01',
    /^Cannot read the usage: from must be within the last 100 days with interval=hour\.\n$/,
  ],
  ['usage --csv --group-by tenant --json', /--csv cannot be combined/],
  [`rerun ${UNKNOWN} --tools dead`, /It must be recorded, live, or a list/],
  [`rerun ${UNKNOWN} --from-step 0`, /It must be an integer from 1/],
  [`rerun ${UNKNOWN}`, /Cannot /],
  [`compare ${UNKNOWN} ${UNKNOWN}`, /Cannot compare the executions/],
  ['audit --action agent.drop', /Allowed choices are agent\.publish/],
  ['audit --agent Slug!', /"Slug!" is neither a slug nor the ID of an agent/],
  ['audit --agent echo --target acme', /cannot be used with/],
])('%s says what is wrong', async (line, message) => {
  const { code, stdout, stderr } = await run(line.split(' '))
  expect([code === 0, stdout + stderr]).toEqual([false, expect.stringMatching(message)])
})
