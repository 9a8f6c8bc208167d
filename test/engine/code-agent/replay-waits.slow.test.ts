import { describe, expect, it } from 'vitest'
import type { Execution } from '../../../lib/core/execution.ts'
import { aRun } from '../../support/engine/code-run.ts'
import { anAgent, engine, replayOf, run, stepsOf } from './replays.ts'

const DAY_MS = 86_400_000

type Waiting = Awaited<ReturnType<typeof aRun>>

/** An agent, and a run of it to its end; `act` is called whenever that is suspended. */
async function waited(body: string, act: (waiting: Waiting) => Promise<unknown> | unknown) {
  const version = await anAgent(body)
  const { organizationId, slug } = version
  const original = await aRun(body, { agent: { organizationId, slug } })
  await original.start()
  for (let turns = 0; turns < 10; turns++) {
    const stored = await original.stored()
    if (stored.status !== 'IN_PROGRESS') return { version, original: stored }
    await act(original)
    await original.wake()
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

async function answerAll({ id, passTime, signal, decide }: Waiting) {
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
    const { version, original } = await waited(WAITS, answerAll)
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
    const { version, original } = await waited(body(1), ({ decide }) => decide('refund', 'approve'))
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
    const waits = `
      await context.sleep('nap', 0)
      await context.waitForSignal('order')
      return context.waitForAny('any', { signals: ['paid', 'cancelled'] })`
    const { version, original } = await waited(waits, answerAll)
    expect(original.status).toBe('SUCCESS')
    const draft = await anAgent(`${body}; return {}`, { of: version })
    for (const steps of ['recorded', 'live'] as const) {
      const trial = await run(draft, replayOf(original, { steps }))
      expect(trial).toMatchObject({ status: 'ERROR', error: { code: 'Diverged', names: [name] } })
      expect(await stepsOf(trial)).toEqual([])
    }
  })

  it('that lost a race in the original loses it again', async () => {
    const race = `
      const winner = await Promise.race([
        context.waitForSignal('order').then(() => 'signal'),
        context.waitForApproval('refund', { title: 'Refund?' }).then(() => 'approval'),
      ])
      return { winner }`
    const { version, original } = await waited(race, ({ decide }) => decide('refund', 'approve'))
    const output = { winner: 'approval' }
    expect(original.output).toEqual(output)
    expect(await run(version, replayOf(original))).toMatchObject({ status: 'SUCCESS', output })
  })

  it('that had not ended in the original ends the replay as Diverged', async () => {
    const race = `await Promise.race([context.sleep('nap', 60), context.waitForSignal('order')]); return {}`
    const { version, original } = await waited(race, ({ passTime }) => passTime(DAY_MS))
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
