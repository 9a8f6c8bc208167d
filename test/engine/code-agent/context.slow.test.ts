import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import { traceparentOf } from '../../../lib/core/traceparent.ts'
import { aRun } from '../../support/engine/code-run.ts'
import { anAgent, replayOf, run as runAgent } from './replays.ts'

const server = createServer((request, response) => response.end(JSON.stringify(request.headers)))
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
afterAll(() => server.close().closeAllConnections())

const SETTINGS = { useCache: false, cacheTtlSeconds: null, timeoutSeconds: null }

describe('context.fetch', () => {
  const fetches = `return { headers: await (await context.fetch('http://${host}/a')).json() }`

  it('has the egress rules of tools, and names the trace of the run', async () => {
    const refused = await aRun(fetches)
    await refused.start()
    expect((await refused.stored()).error?.message).toBe(
      `The URL must start with https:// unless allowedHosts contains "${host}".`,
    )
    expect((await refused.stored()).error?.at).toMatch(/^[\w-]+\.mjs:2:\d+/)
    const run = await aRun(fetches, { agent: { execution: { ...SETTINGS, allowedHosts: [host] } } })
    await run.start()
    expect((await run.stored()).output).toMatchObject({
      headers: { traceparent: traceparentOf(run.execution, 100) },
    })
  })

  it('is not available in a replay outside of recorded steps', async () => {
    const version = await anAgent('return {}', { execution: { ...SETTINGS, allowedHosts: [host] } })
    const original = await runAgent(version)
    const other = await anAgent(fetches, { of: version, execution: { ...SETTINGS, allowedHosts: [host] } })
    expect((await runAgent(other, replayOf(original))).error?.code).toBe('Diverged')
  })
})

describe('context.log', () => {
  it('prints to the log of the execution, with a level and without secrets', async () => {
    const run = await aRun(
      `const { log } = context
      log('plain', { a: 1 })
      log.debug('%s of %d', 'part', 2)
      log.warn(process.env.KEY)
      log.error(new Error('no').message)
      console.log('printed')
      return {}`,
      { agent: { env: ['KEY'] }, environment: { KEY: 'a-secret-value' } },
    )
    await run.start()
    expect((await run.stored()).logs).toBe(
      'INFO plain { a: 1 }\nDEBUG part of 2\nWARN [secret KEY]\nERROR no\nprinted\n',
    )
  })
})
