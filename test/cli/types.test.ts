import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { typeCheck } from '../support/data/type-check.ts'
import { newOrganization } from '../support/engine/organization.ts'
import { cliOfFile, greeter, inFolder } from './cli.ts'

const cli = cliOfFile()

beforeAll(async () => {
  cli.write({ ...inFolder('greet-someone', greeter('Hello')), ...inFolder('a-draft', greeter('Hi')) })
  await cli.json(['publish', 'greet-someone', '--no-types'])
  await cli.json(['publish', 'a-draft', '--draft', '--no-types'])
})

describe('types', () => {
  it('writes the types of published agents to a file', async () => {
    const { code, stdout } = await cli.run(['types', '--out', 'agents.ts'])
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Wrote the types of 1 agent to agents.ts.\n' })
    const text = readFileSync(join(cli.folder, 'agents.ts'), 'utf8')
    expect(text).toContain('  /** Whom to greet. */\n  name: string\n')
    expect(text).toContain("  'greet-someone': {\n    input: GreetSomeoneInput\n")
    expect((await cli.run(['types'])).stdout).toBe(text)
    expect(await typeCheck(text)).toBe('')
  })

  it('reads a service over HTTP, without archived agents', async () => {
    const org = await newOrganization()
    for (const slug of ['wait', 'echo']) await org.publish(slug)
    await org.call('POST', '/v1/agents/echo/archive')
    const service = ['--url', inject('service'), '--token', org.token]
    expect((await cli.json(['types', ...service])).agents).toEqual(['wait'])
    const { stdout } = await cli.run(['types', '--url', `${inject('service')}/v1/`], {
      environment: { AGENTS_TOKEN: org.token },
    })
    expect(stdout).toContain('  wait: {\n')
  })

  it.each([
    [['--token', 'x'], '--token needs --url.'],
    [['--url', 'http://127.0.0.1:9'], '--url needs an API token: specify --token, or set AGENTS_TOKEN.'],
    [['--url', 'http://127.0.0.1:9', '--token', 'x', '--stack', 's'], '--url cannot be combined'],
    [['--url', 'http://127.0.0.1:9', '--token', 'x'], 'Cannot read the agents of http://127.0.0.1:9: '],
    [['--out', 'no/such/folder.ts'], 'Cannot write no/such/folder.ts: the folder no/such does not exist.'],
  ])('explains wrong usage: %j', async (args, message) => {
    const { code, stderr } = await cli.run(['types', ...args])
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)])
  })

  it('prints no password of the address, and no token that cannot be sent', async () => {
    for (const command of [['types'], ['publish', 'hello']])
      for (const options of [
        ['--url', 'http://user:s3cret@127.0.0.1:9', '--token', 'x'],
        ['--url', 'http://127.0.0.1:9', '--token', 's3cret\nx'],
      ]) {
        const { code, stdout, stderr } = await cli.run([...command, ...options])
        expect(code).toBe(1)
        expect(stdout + stderr).not.toContain('s3cret')
        expect(stderr).toMatch(/^The (address of --url must have no|API token contains characters)[^\n]+\n$/)
      }
  })
})
