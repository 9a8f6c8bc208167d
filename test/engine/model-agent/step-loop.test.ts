import { describe, expect, it } from 'vitest'
import type { Json } from '../../../lib/core/json.ts'
import type { Model, ModelResponse } from '../../../lib/core/model.ts'
import type { RecordedStep, StepStore } from '../../../lib/core/step.ts'
import { Journal } from '../../../lib/engine/checkpoints/journal.ts'
import { INLINE } from '../../../lib/engine/checkpoints/retry-policy.ts'
import { outputValidatorOf } from '../../../lib/engine/compiled-schemas.ts'
import { runStepLoop } from '../../../lib/engine/model-agent/step-loop.ts'
import { system } from '../../../lib/system.ts'
import { countReads } from '../../support/count-reads.ts'
import { anExecution, leased } from '../../support/executions.ts'
import { aModelAgent } from '../../support/model-agent.ts'

const STEPS = 30

const usage = { inputTokens: 10, outputTokens: 5 }

/** A response that calls a tool; the last one returns the answer. */
function responseOf(number: number): ModelResponse {
  const isLast = number === STEPS
  const name = isLast ? 'final_answer' : 'look_up'
  const input = isLast ? { answer: 'Because.' } : { id: 'x' }
  const toolCalls = [{ id: `call-${number}`, name, input, error: null }]
  return { messages: [{ said: number }], text: '', toolCalls, usage, stopReason: 'tool-calls' }
}

/** Runs a model of `STEPS` steps after the recorded ones, and counts the reads of each step. */
async function run(recorded: RecordedStep[] = []) {
  const reads = Array.from({ length: STEPS }, () => 0)
  const read = (number: number) => () => {
    reads[number - 1] = (reads[number - 1] ?? 0) + 1
  }
  const sent: Json[][] = []
  const made = { user: 0, tool: 0 }
  const model: Model = {
    name: 'stub/model',
    answerModes: ['tool'],
    async respond({ messages }) {
      const number = recorded.length + sent.push([...messages])
      return countReads(responseOf(number), read(number))
    },
    userMessage: (text) => ({ user: ++made.user, text }),
    toolMessage: () => ({ tool: ++made.tool }),
  }
  const kept = recorded.map(({ step, results }) => ({ step: countReads(step, read(step.number)), results }))
  const steps: StepStore = {
    append: async () => true,
    getProgress: async () => null,
    close: async () => null,
    appendResult: async ({ result }) => result,
    read: async () => kept,
    probe: () => Promise.reject(new Error('A run does not probe its steps.')),
    list: () => Promise.reject(new Error('A run does not list its steps.')),
  }
  const execution = leased({ ...anExecution(), attempts: recorded.length > 0 ? 2 : 1 }, 'worker')
  const heartbeat = {
    isHeld: true,
    confirm: async () => true,
    renew: async () => true,
    report: () => undefined,
  }
  const journal = await Journal.open({ steps, execution, heartbeat })
  const version = await aModelAgent()
  const outcome = await runStepLoop({
    execution,
    version,
    model,
    tools: { declarations: [], call: async () => ({ ok: true, value: 'found' }) },
    journal,
    budget: null,
    examples: [],
    checkOutput: outputValidatorOf(version),
    system,
    signal: new AbortController().signal,
    retry: INLINE,
    retryDelayMs: 1,
  })
  expect(outcome).toMatchObject({
    status: 'SUCCESS',
    steps: STEPS,
    usage: { inputTokens: 10 * STEPS, outputTokens: 5 * STEPS },
  })
  return { reads, sent, made, journal }
}

describe('runStepLoop', () => {
  it('reads the first step of a long run as often as one of the last', async () => {
    const { reads } = await run()
    const ofStepsBefore = reads.slice(0, -1)
    expect(ofStepsBefore[0]).toBeGreaterThan(0)
    expect(new Set(ofStepsBefore).size).toBe(1)
  })

  it('creates the messages of a step once and sends the same objects again', async () => {
    const { sent, made } = await run()
    expect(made).toEqual({ user: 1, tool: STEPS - 1 })
    for (const [index, messages] of sent.entries()) {
      expect(messages).toHaveLength(1 + 2 * index)
      const before = sent[index - 1] ?? []
      expect(before.every((message, position) => message === messages[position])).toBe(true)
    }
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
