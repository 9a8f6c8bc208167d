import type { ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { aRemoteRun } from '../../support/engine/remote-run.ts'
import { listen } from '../../tools/serve.ts'

/** An emulator of Lambda that answers each invocation as the test says. */
async function aFunction(respond: (response: ServerResponse, number: number) => void) {
  const events: unknown[] = []
  const { host } = await listen(async (request, response) =>
    respond(response, events.push(JSON.parse(await text(request)))),
  )
  const run = await aRemoteRun(null, {
    remote: { lambda: { function: 'agent-tool-refund' } },
    environment: { LAMBDA_ENDPOINT: `http://${host}`, PUBLIC_URL: 'https://service.example' },
    withoutSecret: true,
  })
  return { run, events }
}

const returns = (value: unknown) => (response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))

const throws = (response: ServerResponse) =>
  response
    .writeHead(200, { 'x-amz-function-error': 'Unhandled' })
    .end('{"errorType":"Boom","errorMessage":"x"}')

describe('a remote agent that is a Lambda function', () => {
  it('gets the same body as its event, without a callback, and returns the output', async () => {
    const { run, events } = await aFunction(returns({ answer: 'Yes' }))
    await run.process()
    expect(await run.stored()).toMatchObject({ status: 'SUCCESS', output: { answer: 'Yes' } })
    const execution = { id: run.id, agent: run.version.slug, version: run.version.id, attempt: 1 }
    expect(events).toEqual([{ input: { question: 'Why?' }, execution }])
  })

  it.each([
    [{ error: { message: 'No order.' } }, 'AgentFailed', 'No order.'],
    [{ error: { message: 'x' }, answer: 1 }, 'OutputSchemaMismatch', 'output schema'],
  ])('fails for good with %j', async (value, code, message) => {
    const { run, events } = await aFunction(returns(value))
    await run.process()
    expect((await run.stored()).error).toMatchObject({ code, message: expect.stringContaining(message) })
    expect(events).toHaveLength(1)
  })

  it.each([
    ['an error that may be retried', returns({ error: { message: 'busy', retryable: true } })],
    ['an exception', throws],
    ['a lost connection', (response: ServerResponse) => void response.destroy()],
  ])('is invoked again after %s', async (_, behave) => {
    const { run, events } = await aFunction((response, number) =>
      number === 1 ? behave(response) : returns({ answer: 'Yes' })(response),
    )
    await run.process()
    expect((await run.stored()).status).toBe('SUCCESS')
    expect(events).toHaveLength(2)
  })
})
