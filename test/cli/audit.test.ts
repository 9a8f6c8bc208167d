import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { TokenLimits } from '../../lib/core/access.ts'
import { auditStore } from '../../lib/dynamodb/audit-store.ts'
import { system } from '../../lib/system.ts'
import { createToken } from '../support/engine/access.ts'
import { newOrganization, sharedTable, type TestOrganization } from '../support/engine/organization.ts'
import { newCli } from './cli.ts'

const cli = newCli()
afterAll(cli.remove)

let own: TestOrganization
let agentId: string
let tokenId: string
beforeAll(async () => {
  own = await newOrganization()
  agentId = (await own.publish('echo')).agentId
  tokenId = (await own.call('GET', '/v1/me')).json.tokenId
  const put = (tenantId: string, body: object) => own.call('PUT', `/v1/tenants/${tenantId}/limits`, { body })
  await put('acme', { maxOpenExecutions: 3, maxCostUsd: { day: 5 } })
  await put('acme', { maxOpenExecutions: 0 })
  await own.call('POST', '/v1/agents/echo/archive')
  await own.call('POST', '/v1/agents/echo/restore')
})

const overHttp = (args: string[], token = own.token) =>
  cli.run(['audit', ...args, '--url', inject('service')], { environment: { AGENTS_TOKEN: token } })

/** On the table of the shared service. */
const onTable = (args: string[]) =>
  cli.run(['audit', ...args, '--org', own.id], {
    environment: { DYNAMODB_ENDPOINT: inject('dynamodb') },
  })

const actionsOf = (stdout: string): string[] =>
  JSON.parse(stdout).map(({ action, result }: { action: string; result: string }) => `${action} ${result}`)

describe.each([
  ['over HTTP', overHttp],
  ['on a table', onTable],
])('audit %s', (_, run) => {
  it('lists the changes, newest first, with agents by their slugs', async () => {
    const { code, stdout, stderr } = await run([])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const [header, ...lines] = stdout.trimEnd().split('\n')
    expect(header).toMatch(/^TIME +ACTION +TARGET +OF +BY +VIA +RESULT +CHANGES$/)
    expect(lines[0]).toMatch(/Z {2}agent\.restore +echo +- +\S.* +HTTP 127\.0\.0\.1 +succeeded +-$/)
    expect(lines.find((line) => line.includes('succeeded') && line.includes('limits.put'))).toMatch(
      / acme +- .* maxOpenExecutions: 3; maxCostUsd\.day: 5$/,
    )
    expect(lines.find((line) => line.includes('failed'))).toMatch(/failed: \w+ +maxOpenExecutions: 0$/)
  })

  it('prints the records of the API', async () => {
    const { stdout } = await run(['--json'])
    expect(JSON.parse(stdout)).toEqual((await own.call('GET', '/v1/audit?limit=100')).json)
  })

  it('filters by action, actor, target, agent and time', async () => {
    const now = new Date().toISOString()
    const archived = ['agent.restore SUCCEEDED', 'agent.archive SUCCEEDED']
    const limits = ['limits.put FAILED', 'limits.put SUCCEEDED']
    for (const [filter, expected] of [
      [['--action', 'agent.archive'], ['agent.archive SUCCEEDED']],
      [['--target', 'acme'], limits],
      [['--agent', 'echo'], archived],
      [['--agent', agentId.toUpperCase()], archived],
      [
        ['--actor', tokenId],
        [...archived, ...limits],
      ],
      [['--actor', 'nobody'], []],
      [['--from', now], []],
      [['--to', now, '--target', 'acme'], limits],
      [['--to', '2026-01-01'], []],
    ] as const) {
      const { code, stdout, stderr } = await run([...filter, '--json'])
      expect({ filter, code, stderr }).toEqual({ filter, code: 0, stderr: '' })
      expect(actionsOf(stdout)).toEqual(expected)
    }
  })

  it('says how to see older ones, with the same filters', async () => {
    const { stdout, stderr } = await run(['--actor', tokenId, '--limit', '2', '--json'])
    expect(actionsOf(stdout)).toEqual(['agent.restore SUCCEEDED', 'agent.archive SUCCEEDED'])
    const [, to = ''] =
      new RegExp(`^Older ones: npm run agents -- audit --actor ${tokenId} --to (\\S+) --`).exec(stderr) ?? []
    const older = await run(['--to', to, '--actor', tokenId, '--json'])
    expect(actionsOf(older.stdout)).toContain('limits.put SUCCEEDED')
    expect(actionsOf(older.stdout)).not.toContain('agent.restore SUCCEEDED')
  })

  it.each<[string[], RegExp]>([
    [['--action', 'agent.drop'], /Allowed choices are agent\.publish/],
    [['--agent', 'Not a slug'], /"Not a slug" is neither a slug nor the ID of an agent/],
    [['--agent', 'echo', '--target', 'acme'], /cannot be used with/],
    [['--from', 'yesterday'], /--from/],
    [['--target', ''], /--target/],
    [['--limit', '0'], /1 to 1000/],
  ])('rejects %j', async (args, message) => {
    const { code, stdout, stderr } = await run(args)
    expect(code).toBeGreaterThan(0)
    expect(stdout).toBe('')
    expect(stderr).toMatch(message)
  })
})

describe('audit', () => {
  it.each<[Partial<TokenLimits>, RegExp]>([
    [{ scopes: ['run', 'read'] }, /scope manage/],
    [{ tenantId: 'acme' }, /tenant/],
    [{ agents: ['echo'] }, /limited to agents/],
  ])('tells a token with %j what it lacks', async (limits, reason) => {
    const { code, stdout, stderr } = await overHttp([], await createToken(sharedTable(), own.id, limits))
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^Cannot read the audit log: /)
    expect(stderr).toMatch(reason)
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
    const { stdout } = await overHttp([], other.token)
    const lines = stdout.trimEnd().split('\n')
    expect(lines).toHaveLength(3)
    expect(stdout).not.toMatch(/\p{Cf}|(?!\n)\p{Cc}/u)
    expect(lines[1]).toMatch(/ x \[31my +- +busy +HTTP +in progress +-$/)
    expect(lines[2]).toMatch(/ stuck +HTTP +outcome unknown +-$/)
  })
})
