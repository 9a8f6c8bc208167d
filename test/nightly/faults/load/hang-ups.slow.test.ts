import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { operations } from '../../../../lib/api/routes.ts'
import { seededRandom } from '../../../support/data/random.ts'
import { waitUntil } from '../../../support/processes/wait-until.ts'
import { createHangUps } from './hang-ups.ts'

describe('createHangUps', () => {
  it('reaches every route, and closes each connection', async () => {
    const reached = new Set<string>()
    const server = createServer((request, response) => {
      reached.add(`${request.method} ${request.url?.replace(/[0-9a-f-]{36}|echo|the-run/g, '{}')}`)
      response.flushHeaders()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { hangUp, counts } = createHangUps({
      urls: [url],
      token: 'token',
      random: seededRandom(1, 'hang-ups'),
      executionId: () => 'the-run',
    })
    const routes = Object.values(operations).map(
      ({ method, path }) => `${method} ${path.replace(/\{\w+\}/g, '{}')}`,
    )
    while (!routes.every((route) => reached.has(route))) await Promise.all(Array.from({ length: 40 }, hangUp))
    const countOpen = () =>
      new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)))
    await waitUntil(async () => (await countOpen()) === 0, {
      what: 'the connections to close',
      limitMs: 10_000,
    })
    server.close()
    server.closeAllConnections()
    expect(Object.keys(counts).sort()).toEqual([
      'at the response',
      'before the response',
      'in the request',
      'in the response',
    ])
  })
})
