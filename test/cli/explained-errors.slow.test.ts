import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { reportError } from '../../cli/errors.ts'
import * as errors from '../../lib/core/resource-errors.ts'
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
})
