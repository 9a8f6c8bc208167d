import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { liveResponseOf } from '../../../lib/engine/checkpoints/live-response.ts'
import { runOptions } from '../../support/engine/executions.ts'
import { answer, aRemote, aRemoteRun, type Behave, stream } from '../../support/engine/remote-run.ts'
import { aProcessedRun } from './processed-run.ts'

const OUTPUT = { output: { answer: 'Yes' } }
const USAGE = { model: 'openai/gpt-5-mini', inputTokens: 1_000, outputTokens: 100 }

describe('the stream of a remote agent', () => {
  it('becomes steps, logs and usage of the run, with prices', async () => {
    const { run, execution } = await aProcessedRun((response) =>
      stream(
        response,
        ...[{ step: { name: 'search', detail: { found: 3 } } }, ''],
        ...[{ log: 'hello' }, { log: { level: 'warn', message: 'slow' } }, { delta: 'Y' }, { delta: 'es' }],
        ...[{ usage: USAGE, other: true }, { step: { name: 'check' } }, { nothing: 'known' }, OUTPUT],
      ),
    )
    expect(execution).toMatchObject({
      ...{ status: 'SUCCESS', steps: 3, model: USAGE.model, logs: 'hello\nWARN slow\n', ...OUTPUT },
      usage: { inputTokens: 1_000, outputTokens: 100, costUsd: expect.any(Number) },
    })
    expect((await run.steps()).map(({ step }) => step)).toMatchObject([
      { kind: 'CODE', name: 'search', value: { found: 3 } },
      { kind: 'MODEL', model: USAGE.model, text: 'Yes', usage: { inputTokens: 1_000 } },
      { kind: 'CODE', name: 'check', value: null },
    ])
  })

  it('feeds live tokens, which the step replaces', async () => {
    let wasLive = false
    const remote = await aRemote(async (response) => {
      response.writeHead(200, { 'content-type': 'application/jsonl' })
      response.write('{"delta":"Once "}\n{"delta":"upon"}\n')
      await expect.poll(() => liveResponseOf(run.id)?.parts.map(({ text }) => text)).toEqual(['Once upon'])
      wasLive = true
      response.end(`${JSON.stringify(OUTPUT)}\n`)
    })
    const run = await aRemoteRun(remote)
    await run.process()
    expect(wasLive).toBe(true)
    expect((await run.steps()).map(({ step }) => step)).toMatchObject([{ kind: 'MODEL', text: 'Once upon' }])
    expect(liveResponseOf(run.id)).toBeUndefined()
  })

  it('is repeated after a cut without counting twice what is the same', async () => {
    const lines = [{ step: { name: 'a' } }, { usage: USAGE }]
    const { remote, execution } = await aProcessedRun((response, _, number) =>
      number === 1
        ? stream(response, ...lines, { delta: 'lost' })
        : stream(response, ...lines, { step: { name: 'b' } }, OUTPUT),
    )
    expect(execution).toMatchObject({ status: 'SUCCESS', usage: { inputTokens: 1_000 }, steps: 3 })
    expect(remote.asked).toHaveLength(2)
  })

  it('ends with an error that may be retried, or not', async () => {
    const { execution } = await aProcessedRun((response, _, number) =>
      stream(response, { error: { message: `No ${number}.`, retryable: number === 1 } }),
    )
    expect(execution.error).toEqual({ code: 'AgentFailed', message: 'No 2.' })
  })

  it('stops when the budget of the run is used up, but not at its end', async () => {
    const given = { execution: { options: runOptions({ maxTokens: 1_100 }) } }
    const within = await aProcessedRun((response) => stream(response, { usage: USAGE }, OUTPUT), given)
    expect(within.execution.status).toBe('SUCCESS')
    const beyond = await aProcessedRun(
      (response) => stream(response, { usage: USAGE }, { log: 'more' }, OUTPUT),
      given,
    )
    expect(beyond.execution.error?.code).toBe('BudgetExceeded')
  })

  const write = (text: string) => (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' })
    const timer = setInterval(() => response.write(text), 100)
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

  it.each<[string, Behave, message: string, code?: string]>([
    ['a line that is no JSON', (r) => stream(r, 'junk', OUTPUT), 'Line 1'],
    ['a line that is no object', (r) => stream(r, {}, '[1]'), 'Line 2'],
    ['a usage that is none', (r) => stream(r, { usage: { inputTokens: -1 } }), 'usage.inputTokens'],
    ['a delta that is no text', (r) => stream(r, { delta: 1 }), 'delta'],
    ['an output that does not match', (r) => stream(r, { output: {} }), '', 'OutputSchemaMismatch'],
    ['500 MB', flood, 'more than 60000000 bytes', 'OutputTooLarge'],
    ['one line without end', (r) => stream(r, 'x'.repeat(7_000_000)), 'Line 1', 'OutputTooLarge'],
  ])('ends the run with a reason for %s', async (_, behave, message, code = 'AgentFailed') => {
    const { remote, execution } = await aProcessedRun(behave, { remote: { timeoutSeconds: 60 } })
    expect(execution.error).toMatchObject({ code, message: expect.stringContaining(message) })
    await expect.poll(remote.open).toBe(0)
  })

  it.each([
    ['never ends', write('{}\n')],
    ['sends a byte at a time', write('x')],
  ])('that %s is cut after the timeout, and nothing is held', async (_, behave) => {
    const { remote, execution } = await aProcessedRun(behave, {
      remote: { timeoutSeconds: 1 },
      agent: { execution: { useCache: false, cacheTtlSeconds: null, timeoutSeconds: 3 } },
    })
    expect(execution.error ?? execution.lastError).toMatchObject({
      message: expect.stringMatching(/did not answer within 1 s|did not finish within 3 seconds/),
    })
    await expect.poll(remote.open).toBe(0)
  })

  it('masks secrets that are split over deltas, steps and logs', async () => {
    const lines = [
      ...[{ step: { name: 'top-secret-1' } }, { log: 'top-secret-1' }],
      ...[{ delta: 'top-se' }, { delta: 'cret-1' }, OUTPUT],
    ]
    const { run, execution } = await aProcessedRun((response) => stream(response, ...lines), {
      remote: { headers: { 'X-Key': `\${secret:KEY}` } },
      environment: { KEY: 'top-secret-1' },
    })
    expect(JSON.stringify([execution, await run.steps()])).not.toContain('top-se')
    expect(execution.logs).toBe('[secret KEY]\n')
  })

  it('is not read where the answer is another one', async () => {
    const { run } = await aProcessedRun((response) => answer(response, OUTPUT.output))
    expect(await run.steps()).toEqual([])
  })
})
