import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { inject as injectFaults } from '../support/proxy/faults.ts'
import { type ProxyRequest, startProxy } from '../support/proxy/start-proxy.ts'
import { cliOfFile } from './cli.ts'

const cli = cliOfFile()

const UNKNOWN = '0199f3a8-5f1e-7c63-9a51-3d0f6f0b7c11'
const hashOf = (token: string) => createHash('sha256').update(token).digest('hex')

let org: { id: string; name: string }
beforeAll(async () => {
  org = await cli.json(['orgs', 'create', '--name', 'Example Ltd'])
})

describe('orgs', () => {
  it('creates an organization, named by argument or option', async () => {
    expect(org).toEqual({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), name: 'Example Ltd' })
    expect(await cli.json(['orgs', 'create', 'Other'])).toMatchObject({ name: 'Other' })
    const names = (await cli.json(['orgs', 'list'])).map(({ name }: { name: string }) => name)
    expect(names.sort()).toEqual(['Development', 'Example Ltd', 'Other'])
    expect((await cli.run(['orgs', 'list'])).stdout).toMatch(/^ORGANIZATION +NAME +CREATED\n/)
  })

  it.each(['list', 'tokens create --name a'])(
    'reports an unknown organization and how to create one: %s',
    async (line) => {
      const { code, stdout, stderr } = await cli.run([...line.split(' '), '--org', UNKNOWN])
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toBe(
        `Organization ${UNKNOWN} not found. List organizations: npx agent-execution orgs list. ` +
          'Create one: npx agent-execution orgs create --name <text>\n',
      )
      expect(existsSync(join(cli.dataDir, 'store.lock'))).toBe(false)
    },
  )
})

const daysUntil = (timestamp: string) => Math.round((Date.parse(timestamp) - Date.now()) / 86_400_000)

describe('tokens', () => {
  it('shows the token once, and never its hash', async () => {
    const created = await cli.json(['tokens', 'create', '--name', 'ci', '--org', org.id])
    expect(created).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      token: expect.stringMatching(/^aes_[0-9A-Za-z]{43}$/),
      name: 'ci',
      scopes: ['run', 'read'],
    })
    expect(created).not.toHaveProperty('hash')
    expect(daysUntil(created.expiresAt)).toBe(90)
    const { stdout, stderr } = await cli.run(['tokens', 'create', '--name', 'people', '--org', org.id])
    expect(stdout).toMatch(/^aes_[0-9A-Za-z]{43}\n$/)
    expect(stderr).toContain('Save it now: it is not shown again.')

    for (const format of [[], ['--json']]) {
      const { stdout: list } = await cli.run(['tokens', 'list', '--org', org.id, ...format])
      expect(list).toContain('ci')
      expect(list).toContain(created.token.slice(0, 8))
      expect(list).not.toContain(created.token.slice(0, 9))
      expect(list).not.toContain(hashOf(created.token))
    }
    expect((await cli.json(['tokens', 'list', '--org', org.id]))[0]).not.toHaveProperty('hash')
  })

  it('creates a token with limits, which the list shows', async () => {
    const limits = [
      '--agents',
      'hello, later',
      ...'--scopes run,read,run --tenant acme --rate 10/s'.split(' '),
    ]
    const args = ['tokens', 'create', '--name', 'limited', '--org', org.id, ...limits]
    const expected = { scopes: ['run', 'read'], agents: ['hello', 'later'], tenantId: 'acme', rate: 10 }
    expect(await cli.json(args)).toMatchObject(expected)
    const [listed] = await cli.json(['tokens', 'list', '--org', org.id])
    expect(listed).toMatchObject({ ...expected, lastUsedAt: null })
    const { stdout } = await cli.run(['tokens', 'list', '--org', org.id])
    expect(stdout).toMatch(/ limited .* never .* run, read +agents hello, later; tenant acme; 10\/s\n/)
    const { stderr } = await cli.run(args)
    expect(stderr).toContain('has no agent later yet')
  })

  it.each([
    ['--scopes', '', 'run, read, manage'],
    ['--agents', 'a,,b', 'slugs or IDs'],
    ['--tenant', '', '1 to 128 characters'],
    ['--rate', '0/s', '10/s'],
    ['--rate', '10/m', '10/s'],
  ])('rejects %s "%s" and says what is allowed', async (option, value, allowed) => {
    const { code, stderr } = await cli.run(['tokens', 'create', '--name', 'a', option, value])
    expect(code).toBe(2)
    expect(stderr).toContain(option)
    expect(stderr).toContain(allowed)
  })

  type Listed = { id: string; expiresAt: string | null; revokedAt: string | null }
  const find = async (id: string): Promise<Listed | undefined> =>
    (await cli.json(['tokens', 'list', '--org', org.id])).find((token: Listed) => token.id === id)
  const rotate = (id: string, ...options: string[]) => cli.json(['tokens', 'rotate', id, ...options])

  it('rotates a token: the new one may do the same, and the old one ends after the overlap', async () => {
    const limits = '--expires 30 --scopes run --agents hello --tenant acme --rate 7/s'.split(' ')
    const create = ['tokens', 'create', '--name', 'old', '--org', org.id, ...limits]
    const old = await cli.json(create)
    const earliest = Date.now() + 3_600_000
    const rotated = await rotate(old.id, '--overlap', '1h')
    const { id, token, expiresAt, replacedId, replacedEndsAt, ...others } = rotated
    expect(token).toMatch(/^aes_[0-9A-Za-z]{43}$/)
    expect([id === old.id, token === old.token, replacedId]).toEqual([false, false, old.id])
    expect(others).toMatchObject({
      ...{ name: 'old', scopes: ['run'], agents: ['hello'], tenantId: 'acme', rate: 7 },
    })
    expect(daysUntil(expiresAt)).toBe(30)
    expect(Date.parse(replacedEndsAt) - earliest).toBeGreaterThanOrEqual(0)
    expect(await find(old.id)).toMatchObject({ expiresAt: replacedEndsAt, revokedAt: null })
    // A longer overlap does not prolong it.
    expect((await rotate(old.id, '--overlap', '7d', '--expires', '2')).replacedEndsAt).toBe(replacedEndsAt)
    const none = await rotate(old.id, '--overlap', 'none')
    expect((await find(old.id))?.revokedAt).toBe(none.replacedEndsAt)
    expect(await cli.run(['tokens', 'rotate', old.id])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('has ended: revoked just now'),
    })
    const wrong = await cli.run(['tokens', 'rotate', id, '--overlap', '31d'])
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('at most 30 days') })
    expect((await cli.json(['tokens', 'revoke', UNKNOWN], { code: 1 })).error.code).toBe('TokenNotFound')
    expect(await cli.json(['tokens', 'revoke', none.id])).toEqual({ id: none.id, revoked: true })
    const { stdout, stderr } = await cli.run(['tokens', 'rotate', id, '--org', org.id])
    expect(stdout).toMatch(/^aes_[0-9A-Za-z]{43}\n$/)
    expect(stderr).toContain(`The old one, ${id}, stays valid until 20`)
    expect(stderr).not.toContain(stdout.trim())
  })

  it('shows the new token also if the old one cannot be ended', async () => {
    let ended = ''
    const endsToken = ({ operation, body }: ProxyRequest) =>
      ended !== '' && operation === 'UpdateItem' && body.includes(ended)
    const faults = injectFaults((request) => (endsToken(request) ? 'throttle' : null))
    const proxy = await startProxy(inject('dynamodb'), faults)
    onTestFinished(proxy.stop)
    const environment = { DYNAMODB_ENDPOINT: proxy.url }
    const { id: orgId } = await cli.json(['orgs', 'create', '--name', 'Throttled'], { environment })
    const create = ['tokens', 'create', '--name', 'q', '--org', orgId]
    const old = await cli.json(create, { environment })
    ended = hashOf(old.token)
    const { code, stdout, stderr } = await cli.run(['tokens', 'rotate', old.id], { environment })
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^aes_[0-9A-Za-z]{43}\n$/)])
    expect(stderr).toMatch(/^Created token "q", /)
    expect(stderr).toContain(`The old one, ${old.id}, may still be valid, because it could not be ended: `)
    expect(stderr).toContain(`npx agent-execution tokens revoke ${old.id}\n`)
  })
})
