import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { reportError } from '../../cli/errors.ts'
import * as errors from '../../lib/core/errors.ts'
import { greeter, inFolder, newCli } from './cli.ts'

const cli = newCli()
let server: Server
let host: string

beforeAll(async () => {
  server = createServer((_, response) => response.end('hello'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  cli.write(inFolder('hello', greeter('Hi')))
})
afterAll(() => {
  server.close()
  cli.remove()
})

describe('an error of the command line', () => {
  it('says that an agent that is called as a tool has problems, and which', async () => {
    const document = [
      '---',
      'title: Calls',
      'input: {}',
      'output: {}',
      'tools:',
      '  - { name: ask, agent: broken }',
      '---',
      'Ask.',
      '',
    ]
    cli.write({
      'calls/agent.md': document.join('\n'),
      'calls/cases.yaml': '- { name: a, input: {} }\n',
      'broken/agent.md': '---\ntitle: 1\ninput: {}\noutput: {}\n---\n',
    })
    const { code, stderr } = await cli.run(['test', 'calls'], {
      environment: { DEFAULT_MODEL: 'openai/gpt-5', OPENAI_API_KEY: 'k' },
    })
    expect(code).toBe(1)
    expect(stderr).toMatch(/^broken\/agent\.md:/)
    expect(stderr).toMatch(/\nThe agent broken, which is called as a tool, has \d problems?\.\n$/)
  })

  it.each([
    [
      "import 'dayjz'",
      'cannot find the package "dayjz": correct the import, or install it with npm install dayjz',
    ],
    [
      "import '@a/b/c.ts'",
      'cannot find the package "@a/b": correct the import, or install it with npm install @a/b',
    ],
    [
      "import './none.ts'",
      'cannot find the file "./none.ts": correct the import, relative to this file and with its extension',
    ],
  ])('says what to do about %s', async (line, message) => {
    cli.write(
      inFolder('imports', { ...greeter('x'), 'agent.ts': `${line}\nexport default () => ({ said: '' })\n` }),
    )
    const { stderr } = await cli.run(['check', 'imports', '--no-types'])
    expect(stderr).toBe(`imports/agent.ts:1:8: ${message}\nCheck failed: 1 problem.\n`)
  })

  it('names the command that restores an archived agent', async () => {
    await cli.json(['publish', 'hello', '--no-types'])
    await cli.json(['archive', 'hello'])
    const { stderr } = await cli.run(['publish', 'hello', '--no-types'])
    expect(stderr).toBe('Agent hello is archived. Restore it: npm run agents -- restore hello\n')
  })

  it.each([
    ['AgentNotFound', new errors.AgentNotFound()],
    ['VersionNotFound', new errors.VersionNotFound()],
    ['AgentArchived', new errors.AgentArchived()],
    ['VersionRetired', new errors.VersionRetired('run')],
    ['ExecutionNotFound', new errors.ExecutionNotFound()],
  ])('of the service (%s) names no route', async (_, error) => {
    let text = ''
    const { write } = process.stderr
    process.stderr.write = ((chunk: string, done: () => void) => {
      text += chunk
      done()
      return true
    }) as typeof write
    await reportError(error, false).finally(() => {
      process.stderr.write = write
    })
    expect(text).not.toBe('')
    expect(text).not.toContain('/v1/')
  })

  it.each(['publish hello', 'types'])('of %s says that a server does not speak TLS', async (command) => {
    const { code, stderr } = await cli.run([
      ...command.split(' '),
      '--url',
      `https://${host}`,
      '--token',
      'x',
    ])
    expect(code).toBe(1)
    expect(stderr).toContain(`${host} does not speak TLS. If it is a service without it, use http://${host}`)
    expect(stderr).not.toMatch(/SSL|openssl|wrong version/i)
  })

  it('says that nothing listens', async () => {
    const closed = createServer()
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve))
    const { port } = closed.address() as AddressInfo
    await new Promise((resolve) => closed.close(resolve))
    const url = `http://127.0.0.1:${port}`
    const { stderr } = await cli.run(['publish', 'hello', '--url', url, '--token', 'x'])
    expect(stderr).toContain(`nothing listens on 127.0.0.1:${port}. Is the service running?`)
  })

  it('says that the folder of a file is missing', async () => {
    const { code, stderr } = await cli.run(['types', '--out', 'missing/agents.ts'])
    expect([code, stderr]).toEqual([
      1,
      'Cannot write missing/agents.ts: the folder missing does not exist.\n',
    ])
  })
})
