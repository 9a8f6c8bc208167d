import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { Unavailable } from '../../../lib/core/errors.ts'
import type { Json } from '../../../lib/core/json/json.ts'
import type { ModelResponse, ToolResult } from '../../../lib/core/model.ts'
import type { CallResult, RecordedStep, StepStore } from '../../../lib/core/step.ts'
import type { Wait } from '../../../lib/core/wait.ts'
import { CallWaits } from '../../../lib/engine/waiting/call-waits.ts'
import { countReads } from '../../support/data/count-reads.ts'
import { toolCall } from '../../support/engine/executions.ts'
import { type LoopSetup, openJournal, startLoop } from './start-loop.ts'

const STEPS = 30

const usage = { inputTokens: 10, outputTokens: 5 }

const calling = (toolCalls: ModelResponse['toolCalls'], said = 0): ModelResponse => ({
  ...{ messages: [{ said }], text: '', toolCalls, usage, stopReason: 'tool-calls' },
})

const answer = (id: string) => toolCall(id, 'final_answer', { answer: 'Because.' })

/** A response that calls a tool; the last one returns the answer. */
function responseOf(number: number): ModelResponse {
  const id = `call-${number}`
  return calling([number === STEPS ? answer(id) : toolCall(id, 'look_up', { id: 'x' })], number)
}

/** Runs a model of `STEPS` steps after the recorded ones, and counts the reads of each step. */
async function run(recorded: RecordedStep[] = []) {
  const reads: number[] = Array(STEPS).fill(0)
  const read = (number: number) => () => {
    reads[number - 1] = (reads[number - 1] ?? 0) + 1
  }
  const sent: Json[][] = []
  const made = { user: 0, tool: 0 }
  const { running, journal } = await startLoop({
    async respond({ messages }) {
      const number = recorded.length + sent.push([...messages])
      return countReads(responseOf(number), read(number))
    },
    userMessage: (text) => ({ user: ++made.user, text }),
    toolMessage: () => ({ tool: ++made.tool }),
    recorded: recorded.map(({ step, results }) => ({ step: countReads(step, read(step.number)), results })),
  })
  const used = { inputTokens: 10 * STEPS, outputTokens: 5 * STEPS }
  expect(await running).toMatchObject({ status: 'SUCCESS', steps: STEPS, usage: used })
  return { reads, sent, made, journal }
}

describe('runStepLoop', () => {
  it('reads the first step of a long run as often as one of the last', async () => {
    const { reads } = await run()
    const ofStepsBefore = reads.slice(0, -1)
    expect(ofStepsBefore[0]).toBeGreaterThan(0)
    expect(new Set(ofStepsBefore).size).toBe(1)
  })

  it('reads recorded steps once and continues with the same requests', async () => {
    const whole = await run()
    const given = whole.journal.recorded.slice(0, STEPS / 2)
    const { reads, sent, made } = await run(given)
    const [ofGiven, ofOwn] = [reads.slice(0, given.length), reads.slice(given.length, -1)]
    expect(new Set(ofOwn).size).toBe(1)
    expect(Math.max(...ofGiven)).toBeLessThanOrEqual(2 * (ofOwn[0] ?? 0))
    expect(made).toEqual({ user: 1, tool: STEPS - 1 })
    expect(sent).toHaveLength(STEPS - given.length)
    expect(JSON.stringify(sent)).toBe(JSON.stringify(whole.sent.slice(given.length)))
  })
})

/** A store that keeps the IDs of the calls whose results are written. */
function storeOfResults() {
  const kept: string[] = []
  const appendResult: StepStore['appendResult'] = async ({ result }) => {
    kept.push(result.callId)
    return result
  }
  return { kept, store: { appendResult } }
}

/** Runs a model whose first response has this many calls, `c1` first, and whose second one is the answer. */
async function runCalls(
  calls: number,
  call: (id: string) => Promise<ToolResult>,
  setup: Pick<LoopSetup, 'settings' | 'store' | 'drain'> = {},
) {
  const ids = Array.from({ length: calls }, (_, i) => `c${i + 1}`)
  const toolCalls = ids.map((id) => toolCall(id, 'look_up', { id }))
  let responses = 0
  const begun: string[] = []
  const { kept, store } = storeOfResults()
  const respond = async () => calling(responses++ === 0 ? toolCalls : [answer('answer')])
  const callNext = (id: string) => {
    begun.push(id)
    return call(id)
  }
  const { running } = await startLoop({ respond, call: callNext, store, ...setup })
  return { running, begun, kept }
}

const at = new Date().toISOString()

describe('the tool calls of a response', () => {
  it.each([
    [20, {}],
    [3, { maxParallelToolCalls: 3 }],
  ])('run %i at a time with the settings %j, in order', async (limit, settings) => {
    const waiting: (() => void)[] = []
    let [running, most] = [0, 0]
    const call = async (id: string): Promise<ToolResult> => {
      most = Math.max(most, ++running)
      await new Promise<void>((resolve) => waiting.push(resolve))
      running--
      return { ok: true, value: id }
    }
    const run = await runCalls(50, call, { settings })
    for (let n = 0; n < 50; n++) {
      await vi.waitUntil(() => waiting.length > 0)
      waiting.shift()?.()
    }
    expect((await run.running).status).toBe('SUCCESS')
    expect(most).toBe(limit)
    expect(run.begun).toEqual(Array.from({ length: 50 }, (_, i) => `c${i + 1}`))
  })

  it('are completed and stored when one of them cannot be, and no other begins', async () => {
    const error = new Unavailable(new Error('throttled'))
    const slow = Promise.withResolvers<void>()
    const call = async (id: string): Promise<ToolResult> => {
      if (id === 'c1') throw error
      if (id === 'c2') await slow.promise
      return { ok: true, value: id }
    }
    const { running, begun, kept } = await runCalls(6, call, { settings: { maxParallelToolCalls: 3 } })
    let isSettled = false
    const settled = running.catch((reason) => reason).finally(() => (isSettled = true))
    await vi.waitUntil(() => kept.includes('c3'))
    expect(isSettled).toBe(false)
    slow.resolve()
    expect(await settled).toBe(error)
    expect(kept.sort()).toEqual(['c2', 'c3'])
    expect(begun).toEqual(['c1', 'c2', 'c3'])
  })

  it('lose no result of others when one cannot be stored, and reject nothing that nobody handles', async () => {
    const unhandled: unknown[] = []
    const onUnhandled = (reason: unknown) => void unhandled.push(reason)
    process.on('unhandledRejection', onUnhandled)
    onTestFinished(() => void process.off('unhandledRejection', onUnhandled))
    const stored: string[] = []
    const appendResult: StepStore['appendResult'] = async ({ result }) => {
      if (['c1', 'c3'].includes(result.callId)) throw new Unavailable(new Error('throttled'))
      stored.push(result.callId)
      return result
    }
    const call = async (id: string): Promise<ToolResult> => ({ ok: true, value: id })
    const { running } = await runCalls(4, call, { store: { appendResult } })
    await expect(running).rejects.toBeInstanceOf(Unavailable)
    await new Promise((resolve) => setImmediate(resolve))
    expect(stored).toEqual(['c2', 'c4'])
    expect(unhandled).toEqual([])
  })

  it('do not begin when the worker is to stop, unless they are the first', async () => {
    const drain = new AbortController()
    const call = async (id: string): Promise<ToolResult> => {
      drain.abort()
      return { ok: true, value: id }
    }
    const settings = { maxParallelToolCalls: 2 }
    const { running, begun, kept } = await runCalls(5, call, { settings, drain: drain.signal })
    await expect(running).rejects.toMatchObject({ reason: { kind: 'WorkerShuttingDown' } })
    expect(begun).toEqual(['c1', 'c2'])
    expect(kept).toEqual(begun)
  })

  it('are executed beside those that wait, and the run waits for all of these', async () => {
    const waitFor = (id: string): Wait => ({ kind: 'execution', name: 'agent', since: at, until: null, id })
    const call = async (id: string): Promise<ToolResult> => {
      if (['c1', 'c3'].includes(id)) throw new CallWaits([waitFor(id)])
      return { ok: true, value: id }
    }
    const { running, kept } = await runCalls(5, call, { settings: { maxParallelToolCalls: 1 } })
    const waits = ['c1', 'c3'].map((id) => ({ ...waitFor(id), name: 'look_up', step: 1 }))
    await expect(running).rejects.toMatchObject({ reason: { kind: 'Suspended', waits } })
    expect(kept).toEqual(['c2', 'c4', 'c5'])
  })

  it('write no result after the journal is closed', async () => {
    const confirming = Promise.withResolvers<void>()
    const confirmed = Promise.withResolvers<boolean>()
    const { kept, store } = storeOfResults()
    const confirm = () => {
      confirming.resolve()
      return confirmed.promise
    }
    const journal = await openJournal({ store, confirm })
    const times = { startedAt: at, finishedAt: at }
    const result: CallResult = { callId: 'c1', result: { ok: true, value: 1 }, ...times }
    const recorded = await journal.append({ kind: 'CODE', name: 'x', value: 1, ...times })
    const appending = journal.appendResult(recorded, result)
    await confirming.promise
    journal.close()
    confirmed.resolve(true)
    await expect(appending).rejects.toMatchObject({ reason: { kind: 'LeaseLost' } })
    expect(kept).toEqual([])
  })
})
