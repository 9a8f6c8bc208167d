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

const EXECUTION = { useCache: false, cacheTtlSeconds: null, timeoutSeconds: null, allowedHosts: [host] }

describe('context.fetch', () => {
  const fetches = `return { headers: await (await context.fetch('http://${host}/a')).json() }`

  it('has the egress rules of tools, and names the trace of the run', async () => {
    const refused = await aRun(fetches)
    await refused.start()
    const message = `The URL must start with https:// unless allowedHosts contains "${host}".`
    const at = expect.stringMatching(/^[\w-]+\.mjs:2:\d+/)
    expect((await refused.stored()).error).toMatchObject({ message, at })
    const run = await aRun(fetches, { agent: { execution: EXECUTION } })
    await run.start()
    const headers = { traceparent: traceparentOf(run.execution, 100) }
    expect((await run.stored()).output).toMatchObject({ headers })
  })

  it('is not available in a replay outside of recorded steps', async () => {
    const version = await anAgent('return {}', { execution: EXECUTION })
    const original = await runAgent(version)
    const other = await anAgent(fetches, { of: version, execution: EXECUTION })
    expect((await runAgent(other, replayOf(original))).error?.code).toBe('Diverged')
  })
})

it('context.log prints to the log of the execution, with a level and without secrets', async () => {
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
  const logs = 'INFO plain { a: 1 }\nDEBUG part of 2\nWARN [secret KEY]\nERROR no\nprinted\n'
  expect((await run.stored()).logs).toBe(logs)
})
