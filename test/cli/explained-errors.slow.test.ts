import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { reportError } from '../../cli/errors.ts'
import * as errors from '../../lib/core/resource-errors.ts'
import { startServer } from '../support/service/start-server.ts'
import { greeter, inFolder, newCli } from './cli.ts'

const cli = newCli()
let server: Awaited<ReturnType<typeof startServer>>

beforeAll(async () => {
  server = await startServer((_, response) => response.end('hello'))
  cli.write(inFolder('hello', greeter('Hi')))
})
afterAll(() => Promise.all([server.stop(), cli.remove()]))

describe('an error of the command line', () => {
  it.each([
    new errors.AgentNotFound(),
    new errors.VersionNotFound(),
    new errors.AgentArchived(),
    new errors.VersionRetired('run'),
    new errors.ExecutionNotFound(),
  ])('of the service (%s) names no route', async (error) => {
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
    const target = ['--url', `https://${server.host}`, '--token', 'x']
    const { code, stderr } = await cli.run([...command.split(' '), ...target])
    expect(code).toBe(1)
    expect(stderr).toContain(
      `${server.host} does not speak TLS. If it is a service without it, use ${server.url}`,
    )
    expect(stderr).not.toMatch(/SSL|openssl|wrong version/i)
  })
})
