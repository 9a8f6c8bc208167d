import fc from 'fast-check'
import { Unavailable } from '../../../lib/core/errors.ts'
import type { StepStore } from '../../../lib/core/step.ts'
import { finalAnswer } from '../../support/engine/model-agent.ts'
import type { Reply, ScriptedCall, ScriptedResponse } from '../../support/scripted-model/turn.ts'

/**
 * What a model server does with one request. `isRead`: the response arrives whole, and becomes a step. `usage`: what
 * it reports; null if the service has to estimate it; absent if nothing is used.
 */
export type Turn = {
  reply: Reply
  isRead: boolean
  usage?: { inputTokens: number; outputTokens: number } | null
}

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
  response.map(
    (cut): Turn => ({
      reply: { cut: { ...cut, text: 'Some words. '.repeat(20) }, by: 'close' },
      isRead: false,
      usage: null,
    }),
  ),
)

/** Up to ten turns, of which one in four fails. After them, the model returns a valid answer. */
export const script: fc.Arbitrary<Turn[]> = fc.array(
  fc.oneof({ weight: 3, arbitrary: read }, { weight: 1, arbitrary: fault }),
  { maxLength: 10 },
)

export const LAST: Turn = {
  reply: { calls: [finalAnswer({ answer: 'Because.' })], usage: { inputTokens: 7, outputTokens: 3 } },
  isRead: true,
  usage: { inputTokens: 7, outputTokens: 3 },
}

/** How writes to a journal fail: not at all, before the write, or after it. */
export type Write = 'stored' | 'refused' | 'lost'
export const writes: fc.Arbitrary<Write[]> = fc.array(
  fc.constantFrom<Write[]>(...Array<Write>(8).fill('stored'), 'refused', 'lost'),
  { maxLength: 40 },
)

/** A journal whose writes fail in this order, and then no more; counts the steps and results that were refused. */
export function unreliable(steps: StepStore, outcomes: Write[]) {
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
      return write(
        () => steps.appendResult(params),
        () => void refused.results.set(key, (refused.results.get(key) ?? 0) + 1),
      )
    },
  }
  return { store, refused }
}
