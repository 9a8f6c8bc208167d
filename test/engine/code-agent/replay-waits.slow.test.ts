import { describe, expect, it } from 'vitest'
import type { Version } from '../../../lib/core/agent.ts'
import type { Execution } from '../../../lib/core/execution.ts'
import type { Json } from '../../../lib/core/json/json.ts'
import { approvalIdOfWait } from '../../../lib/engine/waiting/approvals.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { system } from '../../../lib/system.ts'
import { executionOf } from '../../support/engine/executions.ts'
import { anAgent, engine, replayOf, run, stepsOf } from './replays.ts'

const DAY_MS = 86_400_000

/** Runs an original to its end; `act` is called whenever it is suspended. */
async function waited(
  version: Version,
  act: (waiting: {
    id: string
    passTime: (ms: number) => void
    signal: (name: string, data: Json) => Promise<unknown>
    decide: (name: string, decision: string, input?: Json) => Promise<unknown>
  }) => Promise<unknown>,
): Promise<Execution> {
  let offsetMs = 0
  const on = {
    ...engine,
    queue: { send: async () => undefined },
    system: { ...system, now: () => Date.now() + offsetMs },
  }
  const execution = executionOf(version, { input: { question: 'Why?' }, deadlineMs: 10 * DAY_MS })
  await engine.executions.create({ execution })
  const { id } = execution
  const at = new Date().toISOString()
  const waiting = {
    id,
    passTime: (ms: number) => {
      offsetMs += ms
    },
    signal: (name: string, data: Json) =>
      engine.signals.put({
        executionId: id,
        signal: { id: system.newId(), name, data, receivedAt: at, bytes: 1 },
      }),
    decide: async (name: string, decision: string, input: Json = null) => {
      const recorded = (await engine.steps.read({ executionId: id })).find(
        ({ step }) => step.kind === 'WAIT' && step.name === name,
      )
      return engine.steps.appendResult({
        executionId: id,
        number: recorded?.step.number ?? 0,
        result: {
          callId: approvalIdOfWait(name),
          result: { ok: true, value: { decision, note: 'ok', by: 'Ann', decidedAt: at, input } },
          startedAt: at,
          finishedAt: at,
        },
      })
    },
  }
  for (let turns = 0; turns < 10; turns++) {
    const message = { wakes: turns > 0, receiveCount: 1, changeVisibility: async () => undefined }
    await processMessage(on, id, { message })
    const stored = await engine.executions.get(execution)
    if (stored?.status !== 'IN_PROGRESS') return stored as Execution
    await act(waiting)
  }
  throw new Error('The original does not end.')
}

const WAITS = `
  const nap = await context.sleep('nap', 86400)
  const until = await context.sleepUntil('then', Date.now() + 86400000)
  const orders = [await context.waitForSignal('order'), await context.waitForSignal('order')]
  const any = await context.waitForAny('any', { signals: ['paid', 'cancelled'] })
  const none = await context.waitForSignal('none', { timeoutSeconds: 60 })
  const approval = await context.waitForApproval('refund', { title: 'Refund?', data: { amount: 1 } })
  const edited = await context.waitForApproval('edit', { title: 'Edit?', data: { amount: 1 } })
  const late = await context.waitForApproval('late', { title: 'Late?', timeoutSeconds: 60 })
  return { nap, until, orders, any, none, approval, edited, late }`

const answerAll: Parameters<typeof waited>[1] = async ({ id, passTime, signal, decide }) => {
  const open = (await engine.steps.read({ executionId: id })).at(-1)?.step
  const name = open?.kind === 'WAIT' ? open.name : ''
  if (name.startsWith('order')) return signal('order', { of: name })
  if (name === 'any') return signal('cancelled', ['why'])
  if (name === 'refund') return decide(name, 'approve')
  if (name === 'edit') return decide(name, 'reject', { amount: 2 })
  return passTime(DAY_MS)
}

describe('a wait of a replay', () => {
  it('ends at once as that of the original did, and is never suspended', async () => {
    const version = await anAgent(WAITS)
    const original = await waited(version, answerAll)
    expect(original).toMatchObject({
      status: 'SUCCESS',
      output: {
        nap: null,
        orders: [{ of: 'order' }, { of: 'order (2)' }],
        any: { signal: 'cancelled', data: ['why'] },
        none: null,
        approval: { decision: 'approve', data: { amount: 1 }, by: 'Ann' },
        edited: { decision: 'reject', data: { amount: 2 } },
        late: { decision: 'timeout' },
      },
    })
    for (const steps of ['recorded', 'live'] as const) {
      const trial = await run(version, replayOf(original, { steps }))
      expect(trial).toMatchObject({ status: 'SUCCESS', output: original.output, attempts: 1, waitedMs: 0 })
      const names = (execution: Execution) =>
        stepsOf(execution).then((all) => all.map((step) => 'name' in step && step.name))
      expect(await names(trial)).toEqual(await names(original))
      expect(await engine.signals.list({ executionId: trial.id })).toEqual([])
    }
  })

  it('shows the data of the draft to a decision that did not replace them', async () => {
    const body = (amount: number) =>
      `return context.waitForApproval('refund', { title: 'Refund?', data: { amount: ${amount} } })`
    const version = await anAgent(body(1))
    const original = await waited(version, ({ decide }) => decide('refund', 'approve'))
    const trial = await run(await anAgent(body(2), { of: version }), replayOf(original))
    expect(trial.output).toMatchObject({ decision: 'approve', data: { amount: 2 }, by: 'Ann' })
  })

  it.each([
    ['is new', `await context.sleep('new', 0)`, 'new'],
    ['is of another kind', `await context.waitForSignal('nap')`, 'nap'],
    ['is new and swallowed', `try { await context.waitForSignal('new') } catch {}`, 'new'],
    ['is new and not awaited', `context.waitForApproval('new', { title: 'Ok?' }).catch(() => {})`, 'new'],
    ['is now one of several', `await context.waitForAny('order', { signals: ['order'] })`, 'order'],
    ['is for other signals', `await context.waitForAny('any', { signals: ['paid'] })`, 'any'],
    [
      'refuses the data',
      `await context.waitForSignal('order', { schema: { type: 'object', required: ['id'] } })`,
      'order',
    ],
  ])('ends the replay as Diverged, with recorded and with live steps, if it %s', async (_, body, name) => {
    const version = await anAgent(`
      await context.sleep('nap', 0)
      await context.waitForSignal('order')
      return context.waitForAny('any', { signals: ['paid', 'cancelled'] })`)
    const original = await waited(version, answerAll)
    expect(original.status).toBe('SUCCESS')
    const draft = await anAgent(`${body}; return {}`, { of: version })
    for (const steps of ['recorded', 'live'] as const) {
      const trial = await run(draft, replayOf(original, { steps }))
      expect(trial).toMatchObject({ status: 'ERROR', error: { code: 'Diverged', names: [name] } })
      expect(await stepsOf(trial)).toEqual([])
    }
  })

  it('that lost a race in the original loses it again', async () => {
    const version = await anAgent(`
      const winner = await Promise.race([
        context.waitForSignal('order').then(() => 'signal'),
        context.waitForApproval('refund', { title: 'Refund?' }).then(() => 'approval'),
      ])
      return { winner }`)
    const original = await waited(version, ({ decide }) => decide('refund', 'approve'))
    expect(original.output).toEqual({ winner: 'approval' })
    expect(await run(version, replayOf(original))).toMatchObject({
      status: 'SUCCESS',
      output: { winner: 'approval' },
    })
  })

  it('that had not ended in the original ends the replay as Diverged', async () => {
    const version = await anAgent(`
      await Promise.race([context.sleep('nap', 60), context.waitForSignal('order')])
      return {}`)
    const original = await waited(version, async ({ passTime }) => passTime(DAY_MS))
    const draft = await anAgent(`await context.waitForSignal('order'); return {}`, { of: version })
    expect((await run(draft, replayOf(original))).error).toMatchObject({ code: 'Diverged', names: ['order'] })
  })

  it('has callback URLs of its own, and shows none of the original in its log', async () => {
    const environment = { PUBLIC_URL: 'https://agents.example' }
    const on = { ...engine, environment }
    const version = await anAgent(`
      const own = await context.callbackUrl('order')
      const url = await context.step('url', () => own)
      console.log(url, own)
      return { url, own }`)
    const original = await run(version, {}, on)
    const trial = await run(version, replayOf(original), on)
    const { url, own } = trial.output as { url: string; own: string }
    expect(url).toBe((original.output as { url: string }).url)
    expect(own).toContain(`/v1/callbacks/${trial.id}/order/`)
    expect(trial.logs).not.toContain('aescb_')
  })
})
