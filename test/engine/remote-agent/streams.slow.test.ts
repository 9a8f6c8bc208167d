import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { liveResponseOf } from '../../../lib/engine/checkpoints/live-response.ts'
import { answer, aRemote, aRemoteRun, stream } from '../../support/engine/remote-run.ts'

const OUTPUT = { output: { answer: 'Yes' } }
const USAGE = { model: 'openai/gpt-5-mini', inputTokens: 1_000, outputTokens: 100 }

describe('the stream of a remote agent', () => {
  it('becomes steps, logs and usage of the run, with prices', async () => {
    const remote = await aRemote((response) =>
      stream(
        response,
        { step: { name: 'search', detail: { found: 3 } } },
        '',
        { log: 'hello' },
        { log: { level: 'warn', message: 'slow' } },
        { delta: 'Y' },
        { delta: 'es' },
        { usage: USAGE, other: true },
        { step: { name: 'check' } },
        { nothing: 'known' },
        OUTPUT,
      ),
    )
    const run = await aRemoteRun(remote)
    await run.process()
    expect(await run.stored()).toMatchObject({
      status: 'SUCCESS',
      output: OUTPUT.output,
      steps: 3,
      model: USAGE.model,
      usage: { inputTokens: 1_000, outputTokens: 100, costUsd: expect.any(Number) },
      logs: 'hello\nWARN slow\n',
    })
    expect((await run.steps()).map(({ step }) => step)).toMatchObject([
      { kind: 'CODE', name: 'search', value: { found: 3 } },
      { kind: 'MODEL', model: USAGE.model, text: 'Yes', usage: { inputTokens: 1_000 } },
      { kind: 'CODE', name: 'check', value: null },
    ])
  })

  it('feeds live tokens, which the step replaces', async () => {
    const seen: string[] = []
    const next = Promise.withResolvers<void>()
    const remote = await aRemote(async (response) => {
      response.writeHead(200, { 'content-type': 'application/jsonl' })
      response.write('{"delta":"Once "}\n{"delta":"upon"}\n')
      await expect.poll(() => liveResponseOf(run.id)?.parts.map(({ text }) => text)).toEqual(['Once upon'])
      seen.push('live')
      next.resolve()
      response.end(`${JSON.stringify(OUTPUT)}\n`)
    })
    const run = await aRemoteRun(remote)
    await run.process()
    await next.promise
    expect(seen).toEqual(['live'])
    expect((await run.steps()).map(({ step }) => step)).toMatchObject([{ kind: 'MODEL', text: 'Once upon' }])
    expect(liveResponseOf(run.id)).toBeUndefined()
  })

  it('is repeated after a cut without counting twice what is the same', async () => {
    const lines = [{ step: { name: 'a' } }, { usage: USAGE }]
    const remote = await aRemote((response, _, number) =>
      number === 1 ? stream(response, ...lines, { delta: 'lost' }) : stream(response, ...lines, { step: { name: 'b' } }, OUTPUT),
    )
    const run = await aRemoteRun(remote)
    await run.process()
    expect(await run.stored()).toMatchObject({ status: 'SUCCESS', usage: { inputTokens: 1_000 }, steps: 3 })
    expect(remote.asked).toHaveLength(2)
  })

  it('ends with an error that may be retried, or not', async () => {
    const remote = await aRemote((response, _, number) =>
      stream(response, { error: { message: `No ${number}.`, retryable: number === 1 } }),
    )
    const run = await aRemoteRun(remote)
    await run.process()
    expect((await run.stored()).error).toEqual({ code: 'AgentFailed', message: 'No 2.' })
  })

  it('stops when the budget of the run is used up, but not at its end', async () => {
    const usage = { usage: USAGE }
    const remote = await aRemote((response, _, number) =>
      number === 1 ? stream(response, usage, OUTPUT) : stream(response, usage, { log: 'more' }, OUTPUT),
    )
    const options = { maxAgentSteps: 100, model: null, useDynamicLearning: false, maxTokens: 1_100 }
    const [within, beyond] = [
      await aRemoteRun(remote, { execution: { options } }),
      await aRemoteRun(remote, { execution: { options } }),
    ]
    await within.process()
    await beyond.process()
    expect((await within.stored()).status).toBe('SUCCESS')
    expect((await beyond.stored()).error?.code).toBe('BudgetExceeded')
  })

  const write = (text: string, ms: number) => (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' })
    const timer = setInterval(() => response.write(text), ms)
    response.on('close', () => clearInterval(timer))
  }
  const flood = (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' })
    const chunk = `${JSON.stringify({ nothing: 'x'.repeat(100_000) })}\n`
    let left = 5_000
    const more = () => {
      let isFree = true
      while (isFree && left-- > 0 && !response.destroyed) isFree = response.write(chunk)
      if (!isFree) response.once('drain', more)
    }
    more()
  }

  it.each([
    ['a line that is no JSON', (r: ServerResponse) => stream(r, 'junk', OUTPUT), 'AgentFailed', 'Line 1'],
    ['a line that is no object', (r: ServerResponse) => stream(r, {}, '[1]'), 'AgentFailed', 'Line 2'],
    ['a usage that is none', (r: ServerResponse) => stream(r, { usage: { inputTokens: -1 } }), 'AgentFailed', 'usage.inputTokens'],
    ['a delta that is no text', (r: ServerResponse) => stream(r, { delta: 1 }), 'AgentFailed', 'delta'],
    ['an output that does not match', (r: ServerResponse) => stream(r, { output: {} }), 'OutputSchemaMismatch', ''],
    ['500 MB', flood, 'OutputTooLarge', 'more than 60000000 bytes'],
    ['one line without end', (r: ServerResponse) => stream(r, 'x'.repeat(7_000_000)), 'OutputTooLarge', 'Line 1'],
  ])('ends the run with a reason for %s', async (_, behave, code, message) => {
    const remote = await aRemote(behave)
    const run = await aRemoteRun(remote, { remote: { timeoutSeconds: 60 } })
    await run.process()
    expect((await run.stored()).error).toMatchObject({ code, message: expect.stringContaining(message) })
    await expect.poll(remote.open).toBe(0)
  })

  it.each([
    ['never ends', write('{}\n', 100)],
    ['sends a byte at a time', write('x', 100)],
  ])('that %s is cut after the timeout, and nothing is held', async (_, behave) => {
    const remote = await aRemote(behave)
    const run = await aRemoteRun(remote, { remote: { timeoutSeconds: 1 }, agent: { execution: { useCache: false, cacheTtlSeconds: null, timeoutSeconds: 3 } } })
    await run.process()
    const { error, lastError } = await run.stored()
    expect(error ?? lastError).toMatchObject({
      message: expect.stringMatching(/did not answer within 1 s|did not finish within 3 seconds/),
    })
    await expect.poll(remote.open).toBe(0)
  })

  it('masks secrets that are split over deltas, steps and logs', async () => {
    const remote = await aRemote((response) =>
      stream(response, { step: { name: 'top-secret-1' } }, { log: 'top-secret-1' }, { delta: 'top-se' }, { delta: 'cret-1' }, OUTPUT),
    )
    const options = { remote: { headers: { 'X-Key': `\${secret:KEY}` } }, environment: { KEY: 'top-secret-1' } }
    const run = await aRemoteRun(remote, options)
    await run.process()
    expect(JSON.stringify([await run.stored(), await run.steps()])).not.toContain('top-se')
    expect((await run.stored()).logs).toBe('[secret KEY]\n')
  })

  it('is not read where the answer is another one', async () => {
    const remote = await aRemote((response) => answer(response, { answer: 'Yes' }))
    const run = await aRemoteRun(remote)
    await run.process()
    expect(await run.steps()).toEqual([])
  })
})
