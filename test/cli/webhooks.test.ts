import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createToken } from '../support/engine/access.ts'
import { newOrganization, sharedTable, type TestOrganization } from '../support/engine/organization.ts'
import { newCli } from './cli.ts'

const cli = newCli()
afterAll(cli.remove)

let own: TestOrganization
let agentId: string
beforeAll(async () => {
  own = await newOrganization()
  agentId = (await own.publish('echo')).agentId
})

const run = (args: string[], token = own.token) =>
  cli.run(['webhooks', ...args, '--url', inject('service')], { environment: { AGENTS_TOKEN: token } })
const json = async (args: string[]) => {
  const { code, stdout, stderr } = await run([...args, '--json'])
  expect({ code, stderr }).toMatchObject({ code: 0 })
  return JSON.parse(stdout)
}

describe('webhooks', () => {
  it('are created, listed, shown, changed and deleted', async () => {
    expect((await run(['list'])).stdout).toBe(
      `There are no webhooks. Create one: npm run agents -- webhooks create <url> --url ${inject('service')}\n`,
    )
    const { code, stdout, stderr } = await run(['create', 'https://shop.example/', '--agents', 'echo'])
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^whsec_\S+\n$/)])
    expect(stderr).toMatch(
      /^Created webhook \S{36}\. [\s\S]*not shown again\.\n.* webhooks test \S{36} --url \S+\n$/,
    )
    const [created] = await json(['list'])
    expect(created).toMatchObject({ url: 'https://shop.example/', agents: [agentId], tenants: null })
    const { id } = created
    const options = [
      '--agents',
      'all',
      '--tenants',
      'acme,globex',
      '--types',
      'execution.failed',
      '--disable',
    ]
    expect(await json(['update', id, ...options])).toMatchObject({
      agents: null,
      tenants: ['acme', 'globex'],
      types: ['execution.failed'],
      enabled: false,
    })
    expect((await run(['show', id])).stdout).toContain('tenants        acme, globex\n')
    expect((await run(['list'])).stdout).toContain('https://shop.example/  disabled')
    expect((await run(['rotate', id])).stdout).toMatch(/^whsec_\S+\n$/)
    expect((await run(['deliveries', id])).stdout).toBe('Nothing was sent to this webhook yet.\n')
    expect(await json(['delete', id])).toEqual({ id, deleted: true })
  })

  it.each<[string[], RegExp]>([
    [['create'], /missing required argument 'receiver'/],
    [['create', 'shop.example'], /http or https address/],
    [['create', 'http://shop.example/'], /Cannot create the webhook: \/url must start with https:\/\//],
    [['create', 'https://shop.example/', '--agents', 'Echo!'], /neither a slug nor an ID/],
    [['create', 'https://shop.example/', '--types', 'x'], /\/types\/0 must be one of execution.succeeded/],
    [['update', 'x'], /Nothing to change/],
    [['update', 'x', '--enable', '--disable'], /cannot be combined/],
    [['show', '../agents'], /Cannot show the webhook: Your organization has no webhook/],
    [['deliveries', 'x', '--limit', '0'], /integer from 1 to 1000/],
  ])('say what is wrong with %j', async (args, message) => {
    const { code, stdout, stderr } = await run(args)
    expect({ code, stdout }).toEqual({ code: expect.any(Number), stdout: '' })
    expect(code).toBeGreaterThan(0)
    expect(stderr).toMatch(message)
  })

  it('need a token with the scope', async () => {
    const reader = await createToken(sharedTable(), own.id, { scopes: ['read'] })
    const { code, stderr } = await run(['create', 'https://shop.example/'], reader)
    expect([code, stderr]).toEqual([1, expect.stringContaining('scope manage')])
    expect((await run(['list'], reader)).code).toBe(0)
  })
})
