import fc from 'fast-check'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { Unavailable } from '../../../lib/core/errors.ts'
import { isFinal } from '../../../lib/core/execution.ts'
import { FINAL_ANSWER } from '../../../lib/core/model.ts'
import type { RecordedModelStep, StepStore } from '../../../lib/core/step.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { system } from '../../../lib/system.ts'
import { toSentKey } from '../../../lib/tools/tool.ts'
import { readSeed } from '../../support/data/seed.ts'
import { aModelAgent, finalAnswer, httpTool, startToolServer } from '../../support/engine/model-agent.ts'
import { aMessage, answer, startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { SCRIPTED_PROVIDERS } from '../../support/scripted-model/start-scripted-model.ts'
import type { Reply, ScriptedCall, ScriptedResponse } from '../../support/scripted-model/turn.ts'
import type { ScriptedUsage } from '../../support/scripted-model/usage.ts'

/**
 * What a model server does with one request. `isRead`: the response arrives whole, and becomes a step. `usage`: what
 * it reports; null if the service has to estimate it; absent if nothing is used.
 */
type Turn = { reply: Reply; isRead: boolean; usage?: ScriptedUsage | null }

const tokens = fc.integer({ min: 1, max: 5_000 })
const usage = fc.oneof(
  { weight: 4, arbitrary: fc.record({ inputTokens: tokens, outputTokens: tokens }) },
  { weight: 1, arbitrary: fc.constant(null) },
)

const id = fc.integer({ min: 0, max: 9_999 }).map(String)
const call: fc.Arbitrary<ScriptedCall> = fc.oneof(
  { weight: 6, arbitrary: id.map((value) => ({ name: 'look_up', input: { id: value } })) },
  { weight: 2, arbitrary: id.map((value) => ({ name: 'fail', input: { id: value } })) },
  { weight: 1, arbitrary: fc.constant({ name: 'look_up', input: { wrong: true } }) },
  { weight: 1, arbitrary: fc.constant({ name: 'look_up', raw: '{"id": ' }) },
  { weight: 1, arbitrary: fc.constant({ name: 'unknown', input: {} }) },
)
const finalCall = fc.constantFrom(finalAnswer({ answer: 'Because.' }), finalAnswer({ answer: 42 }))
const text = fc.constantFrom('', 'Let me look.', 'Well, it depends.')
const finish = fc.constantFrom<ScriptedResponse['finish'][]>(...Array(12).fill(undefined), 'length')

const response: fc.Arbitrary<ScriptedResponse> = fc
  .tuple(
    fc.oneof(
      fc.record({ text, calls: fc.array(call, { minLength: 1, maxLength: 5 }) }),
      fc
        .tuple(text, fc.array(call, { maxLength: 3 }), finalCall, fc.nat(3))
        .map(([said, calls, last, at]) => ({ text: said, calls: calls.toSpliced(at, 0, last) })),
      fc.constantFrom<ScriptedResponse>({ text: 'Well, it depends.' }, { text: '{"answer":42}' }),
    ),
    usage,
    finish,
  )
  .map(([body, used, reason]) => ({ ...body, usage: used, ...(reason && { finish: reason }) }))

const read = response.map((reply): Turn => ({ reply, isRead: true, usage: reply.usage ?? null }))

/** Failures that are retried. */
const fault: fc.Arbitrary<Turn> = fc.oneof(
  fc
    .constantFrom<Reply>({ status: 503 }, { status: 529 }, { drop: 'before' })
    .map((reply) => ({ reply, isRead: false })),
  response.map((given): Turn => {
    const cut = { ...given, text: 'Some words. '.repeat(20) }
    return { reply: { cut, by: 'close' }, isRead: false, usage: null }
  }),
)

/** Up to ten turns, of which one in four fails. After them, the model returns a valid answer. */
const script: fc.Arbitrary<Turn[]> = fc.array(
  fc.oneof({ weight: 3, arbitrary: read }, { weight: 1, arbitrary: fault }),
  { maxLength: 10 },
)

const used = { inputTokens: 7, outputTokens: 3 }
const LAST: Turn = { reply: { ...answer, usage: used }, isRead: true, usage: used }

/** How writes to a journal fail: not at all, before the write, or after it. */
type Write = 'stored' | 'refused' | 'lost'
const writes: fc.Arbitrary<Write[]> = fc.array(
  fc.constantFrom<Write[]>(...Array<Write>(8).fill('stored'), 'refused', 'lost'),
  { maxLength: 40 },
)

/** A journal whose writes fail in this order, and then no more; counts the steps and results that were refused. */
function unreliable(steps: StepStore, outcomes: Write[]) {
  const refused = { steps: 0, results: new Map<string, number>() }
  let count = 0
  async function write<T>(attempt: () => Promise<T>, onRefused: () => void): Promise<T> {
    const outcome = outcomes[count++] ?? 'stored'
    if (outcome === 'refused') onRefused()
    const result = outcome === 'refused' ? undefined : await attempt()
    if (outcome === 'stored') return result as T
    throw new Unavailable(Object.assign(new Error('Slow down.'), { name: 'ThrottlingException' }))
  }
  const store: StepStore = {
    ...steps,
    append: (params) =>
      write(
        () => steps.append(params),
        () => void refused.steps++,
      ),
    appendResult: (params) => {
      const key = `${params.number}-${params.result.callId}`
      const onRefused = () => void refused.results.set(key, (refused.results.get(key) ?? 0) + 1)
      return write(() => steps.appendResult(params), onRefused)
    },
  }
  return { store, refused }
}

const { engine, queued, scripted } = await startScriptedEngine()
const server = await startToolServer((path, response) => {
  response.statusCode = path.startsWith('/broken') ? 500 : 200
  response.end(JSON.stringify({ path }))
})
afterAll(() => server.stop())
const version = await aModelAgent({
  tools: [httpTool(server, 'look_up', '/things/{id}'), httpTool(server, 'fail', '/broken/{id}')],
})

/** @param position the number of a step, and the id of its call */
const sentKeyOf = ({ id }: { id: string }, position: string) => toSentKey(`${id}-${position}`)

const SETTINGS = inject('isNightly') ? { numRuns: 1_000, seed: readSeed() } : { numRuns: 10, seed: 1 }
const DAY_MS = 24 * 60 * 60 * 1000

/** Delivers the messages of a run until it ends, as the queue would, with a model and a journal that fail. */
async function run(provider: (typeof SCRIPTED_PROVIDERS)[number], turns: Turn[], outcomes: Write[]) {
  const served: Turn[] = []
  const { execution, stored, requests } = await queued(
    (_, index) => {
      const turn = turns[index] ?? LAST
      served.push(turn)
      return turn.reply
    },
    version,
    { provider, deadlineMs: DAY_MS },
  )
  const { store, refused } = unreliable(engine.steps, outcomes)
  let laterMs = 0
  const clock = { ...system, now: () => Date.now() + laterMs }
  for (let receiveCount = 1; laterMs < DAY_MS && !isFinal(await stored()); receiveCount++) {
    const { message, sent } = aMessage(receiveCount)
    const result = await processMessage({ ...engine, steps: store, system: clock }, execution.id, { message })
    laterMs +=
      1 + (typeof result === 'string' ? (sent[0]?.delayMs ?? engine.times.graceMs) : result.retryInMs)
  }
  const steps = await engine.steps.read({ executionId: execution.id })
  const calls = server.calls.filter(({ key }) => key.startsWith(execution.id))
  return { execution: await stored(), steps, served, refused, requests, calls }
}

describe.each(SCRIPTED_PROVIDERS)('any script of responses of %s', (provider) => {
  it('drops no call, counts each token, and repeats no stored step', { timeout: 900_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(script, writes, async (turns, outcomes) => {
        const { execution, steps, served, refused, requests, calls } = await run(provider, turns, outcomes)
        expect(isFinal(execution)).toBe(true)
        const models = steps as RecordedModelStep[]

        // Each stored response was requested once; others were requested because a response or its step was lost.
        expect(served.filter(({ isRead }) => isRead)).toHaveLength(models.length + refused.steps)

        // What the provider reports is counted once; what it does not report is counted with an estimate.
        const used = served.flatMap(({ usage }) => (usage === undefined ? [] : [usage]))
        for (const name of ['inputTokens', 'outputTokens'] as const) {
          const reported = used.reduce((sum, usage) => sum + (usage?.[name] ?? 0), 0)
          if (used.includes(null)) expect(execution.usage[name]).toBeGreaterThan(reported)
          else expect(execution.usage[name]).toBe(reported)
        }

        // Each valid call of a stored response is executed, once for each time that its result was not stored.
        const isOver = execution.status === 'SUCCESS'
        for (const [index, { step, results }] of models.entries()) {
          for (const { id, name, error } of step.calls) {
            const key = `${step.number}-${id}`
            const count = calls.filter((made) => made.key === sentKeyOf(execution, key)).length
            expect(count).toBeLessThanOrEqual(1 + (refused.results.get(key) ?? 0))
            if (!isOver && index === models.length - 1) continue
            const isValid = error === null && name !== FINAL_ANSWER
            if (isValid) expect(results.has(id)).toBe(true)
            expect(count > 0).toBe(isValid && isSent(results.get(id)?.result))
          }
        }
        const known = models.flatMap(({ step: { number, calls } }) =>
          calls.map(({ id }) => sentKeyOf(execution, `${number}-${id}`)),
        )
        expect(known).toEqual(expect.arrayContaining(calls.map(({ key }) => key)))

        // The model sees the results of all calls: the server rejects a history with a call that has none.
        const last = requests.at(-1)?.history ?? []
        const shown = new Set(last.flatMap((item) => (item.type === 'result' ? [item.id] : [])))
        for (const { step } of models.slice(0, -1))
          if (step.stopReason !== 'length') for (const { id } of step.calls) expect(shown).toContain(id)
        scripted.assertDone(requests.at(-1)?.model)
      }),
      SETTINGS,
    )
  })
})

/** Whether a call reached the server: an input that does not match the schema is an error before. */
const isSent = (result: { ok: boolean; error?: string } | undefined): boolean =>
  result !== undefined && (result.ok || !result.error?.startsWith('The input does not match'))
