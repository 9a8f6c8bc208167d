import { afterAll, describe, expect, inject, it } from 'vitest'
import type { Engine } from '../../../../lib/engine/engine.ts'
import { processMessage } from '../../../../lib/engine/worker/process-message.ts'
import { openModel } from '../../../../lib/models/open-model.ts'
import { aModelAgent, finalAnswer, httpTool, startToolServer } from '../../../support/engine/model-agent.ts'
import { aMessage, startScriptedEngine } from '../../../support/engine/scripted-engine.ts'
import { computeCacheableShare } from '../../../support/scripted-model/prompt-cache.ts'
import { type RecordedRequest, resultsOf } from '../../../support/scripted-model/recorded-request.ts'
import { SCRIPTED_PROVIDERS } from '../../../support/scripted-model/start-scripted-model.ts'
import type { Reply } from '../../../support/scripted-model/turn.ts'

const { engine, queued, runScript } = await startScriptedEngine()

/** Returns 2 kB for each path. */
const server = await startToolServer((path, response) => void response.end(`${path} `.padEnd(2_000, 'data ')))
const writer = await startToolServer((_, response) => void response.end('Written.'))
afterAll(() => Promise.all([server.stop(), writer.stop()]))

const aReader = (context: object = {}) =>
  aModelAgent({ tools: [httpTool(server, 'read', '/pages/{id}')], context })

const answer = { calls: [finalAnswer({ answer: 'Read.' })] }
const read = (...ids: (number | string)[]) => ({
  calls: ids.map((id) => ({ name: 'read', input: { id: String(id) } })),
})
const isCleared = (output: string) => output.includes('[cleared, ')
const clearedIn = (request: RecordedRequest | undefined) => resultsOf(request).filter(isCleared).length

const callsOf = ({ history }: RecordedRequest) => history.filter((item) => item.type === 'call')
const hasClearedInput = ({ input }: { input: unknown }) => JSON.stringify(input).includes('"cleared":')

/** Reads a page with each of the steps, then answers. */
const readPages = (steps: number) => (_: unknown, index: number) => (index < steps ? read(index) : answer)

/** What is cleared does not depend on the provider, whose requests the shorter runs below show. */
const LONG_ON = inject('isNightly') ? SCRIPTED_PROVIDERS : SCRIPTED_PROVIDERS.slice(0, 1)

describe.each(LONG_ON)('the context of a long run on %s', (provider) => {
  it('loses its oldest results above 70 % of the window, many at a time, and keeps the latest', async () => {
    const version = await aReader({ window: 20_000, keep: 4 })
    const { execution, steps, requests } = await runScript(readPages(60), { version, provider })
    expect(execution).toMatchObject({ status: 'SUCCESS', steps: 61 })
    const counts = requests.map(clearedIn)
    const changes = counts.filter((count, index) => count !== counts[index - 1])
    expect(changes.length).toBeGreaterThan(2)
    expect(changes.length).toBeLessThan(8)
    expect(counts).toEqual(counts.toSorted((a, b) => a - b))
    for (const request of requests) {
      const results = resultsOf(request)
      const firstKept = results.findIndex((output) => !isCleared(output))
      expect(results.slice(Math.max(firstKept, 0)).some(isCleared)).toBe(false)
      expect(results.slice(-4).some(isCleared)).toBe(false)
    }
    expect(computeCacheableShare(requests)).toBeGreaterThan(0.9)
    expect(resultsOf(requests.at(-1))[0]).toContain('[cleared, 2000 bytes; call again if needed]')
    expect(steps.map(({ step }) => (step.kind === 'MODEL' && step.clearedResults) || 0)).toEqual(counts)
  })
})

describe.each(SCRIPTED_PROVIDERS)('the context of a run on %s', (provider) => {
  it('loses the arguments of its oldest calls, too, and keeps their names', async () => {
    const text = { type: 'string', description: 'A text.' }
    const http = { method: 'POST', url: `${writer.url}/notes`, allowedHosts: [writer.host] }
    const write = httpTool(writer, 'write', '/notes', { input: { text }, http })
    const version = await aModelAgent({ tools: [write], context: { window: 16_000 } })
    const script = (_: unknown, index: number): Reply =>
      index < 40
        ? { calls: [{ name: 'write', input: { text: `${index} `.padEnd(3_000, 'data ') } }] }
        : answer
    const { execution, steps, requests } = await runScript(script, { version, provider })
    expect(execution).toMatchObject({ status: 'SUCCESS', steps: 41 })
    const counts = requests.map((request) => callsOf(request).filter(hasClearedInput).length)
    const calls = requests.map(callsOf).at(-1) ?? []
    expect(calls.map(({ name }) => name)).toEqual(Array(40).fill('write'))
    expect(calls[0]?.input).toEqual({ cleared: '3011 bytes of arguments' })
    expect(calls.slice(-3).some(hasClearedInput)).toBe(false)
    expect(counts).toEqual(counts.toSorted((a, b) => a - b))
    expect(steps.map(({ step }) => (step.kind === 'MODEL' && step.clearedResults) || 0)).toEqual(counts)
    expect(computeCacheableShare(requests)).toBeGreaterThan(0.8)
  })

  it('is cleared and sent once more when the provider rejects it as too long', async () => {
    const script = (request: RecordedRequest): Reply => {
      if (resultsOf(request).filter((output) => !isCleared(output)).length > 4) return overflowOf(provider)
      return resultsOf(request).length < 6 ? read(resultsOf(request).length) : answer
    }
    const { execution, requests } = await runScript(script, { version: await aReader(), provider })
    expect(execution).toMatchObject({ status: 'SUCCESS', steps: 7 })
    expect(requests.map(clearedIn)).toEqual([0, 0, 0, 0, 0, 0, 2, 2])
  })

  it.each([
    ['nothing can be cleared', 0, 1],
    ['it is still too long without the results', 5, 7],
  ])('ends the run in ERROR ContextExceeded if %s', async (_, pages, sent) => {
    const script = (_request: RecordedRequest, index: number) =>
      index < pages ? read(index) : overflowOf(provider)
    const { execution, requests } = await runScript(script, { version: await aReader(), provider })
    expect(execution).toMatchObject({ status: 'ERROR', steps: pages, error: { code: 'ContextExceeded' } })
    expect(requests).toHaveLength(sent)
  })
})

/** How providers say that a request is too long. */
const OVERFLOWS = {
  openai: [
    'context_length_exceeded',
    'Your input exceeds the context window of this model. Please adjust your input and try again.',
  ],
  'openai-compatible': [
    'exceed_context_size_error',
    'the request exceeds the available context size, try increasing it',
  ],
  anthropic: ['invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'],
  bedrock: ['ValidationException', 'Input is too long for requested model.'],
} as const
const overflowOf = (provider: keyof typeof OVERFLOWS): Reply => {
  const [code, message] = OVERFLOWS[provider]
  return { status: 400, code, message }
}

describe('the context window that a model has from its settings', () => {
  it('takes the place of that of its name, and the document takes its place', async () => {
    const on: Engine = {
      ...engine,
      openModel: async (...params) => ({ ...(await openModel(...params)), contextWindow: 20_000 }),
    }
    const clearedWith = async (context: object) => {
      const { requests } = await runScript(readPages(40), { version: await aReader(context), on })
      return clearedIn(requests.at(-1))
    }
    expect(await clearedWith({})).toBeGreaterThan(0)
    expect(await clearedWith({ window: 200_000 })).toBe(0)
  })
})

it('the results of the last response are cleared only where they do not fit the window', async () => {
  const many = Array.from({ length: 12 }, (_, index) => index)
  const fitting = await runScript([read(...many), answer], { version: await aReader({ window: 6_500 }) })
  expect(fitting.requests.map(clearedIn)).toEqual([0, 0])
  const tooMany = await runScript([read(...many), answer], { version: await aReader({ window: 4_000 }) })
  const results = resultsOf(tooMany.requests[1])
  expect(results.slice(-3).some(isCleared)).toBe(false)
  expect(results.slice(0, 3).every(isCleared)).toBe(true)
})

it('a response that fills the context window is requested once more when results can be cleared', async () => {
  const full = { text: 'Well,', stopReason: 'model_context_window_exceeded' }
  const given = { version: await aReader(), provider: 'anthropic' as const }
  const { execution, requests, done } = await runScript([read(1, 2, 3, 4), full, answer], given)
  done()
  expect(execution).toMatchObject({ status: 'SUCCESS', steps: 3 })
  expect(requests.map(clearedIn)).toEqual([0, 0, 1])
  expect(requests[2]?.maxOutputTokens).toBe(requests[1]?.maxOutputTokens)
})

describe('a worker that continues a run whose context was cleared', () => {
  it.each([8, 33])('sends the same requests after an outage at request %i', async (outage) => {
    const version = await aReader({ window: 10_000 })
    const script = readPages(40)
    const whole = await runScript(script, { version })
    let isDown = true
    const { execution, stored, requests } = await queued((request) => {
      const index = resultsOf(request).length
      return index === outage && isDown ? { status: 503 } : script(request, index)
    }, version)
    await processMessage(engine, execution.id, aMessage())
    expect(await stored()).toMatchObject({ status: 'IN_PROGRESS', steps: outage })
    isDown = false
    await processMessage(engine, execution.id, aMessage())
    expect(await stored()).toMatchObject({ status: 'SUCCESS', steps: 41 })
    const answered = requests.filter((_, index) => index < outage || index >= requests.length - (41 - outage))
    // The IDs of calls differ from run to run.
    const bodies = (list: RecordedRequest[]) =>
      list.map(({ history }) => history.map((item) => ('id' in item ? { ...item, id: '' } : item)))
    expect(bodies(answered)).toEqual(bodies(whole.requests))
  })
})
