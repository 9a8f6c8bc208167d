import { describe, expect, it } from 'vitest'
import { approvalIdOfWait } from '../../../lib/engine/waiting/approvals.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { system } from '../../../lib/system.ts'
import { aRun } from '../../support/engine/code-run.ts'

const HOUR_MS = 3_600_000
const DAY_SECONDS = 86_400

const AT = '2026-11-24T12:00:00.000Z'
const SOME_STEP = {
  step: { kind: 'CODE', name: 'one', number: 1, value: 1, startedAt: AT, finishedAt: AT },
  results: new Map(),
} as const

const SLEEPS = `
  const before = await context.step('before', () => runs)
  await context.sleep('nap', ${DAY_SECONDS})
  return { before, after: await context.step('after', () => runs), runs }`

/** A run of this code after its first message, and the record that it has then. */
async function aStartedRun(...given: Parameters<typeof aRun>) {
  const run = await aRun(...given)
  await run.start()
  return { ...run, started: await run.stored() }
}

describe('context.sleep', () => {
  it('suspends the run, whose thread continues after the time, not before, with no step repeated', async () => {
    const run = await aRun(SLEEPS)
    expect(await run.start()).toBe('processed')
    const { suspension, ...waiting } = await run.stored()
    expect(waiting).toMatchObject({ status: 'IN_PROGRESS', lease: null })
    expect(suspension?.waits).toMatchObject([{ kind: 'sleep', name: 'nap', step: 2 }])
    expect(run.sent).toEqual([])
    // timeoutSeconds does not count the wait.
    expect(waiting.deadlineAt - run.execution.deadlineAt).toBeGreaterThan(990 * DAY_SECONDS)
    expect([await run.start(), await run.wake()]).toEqual(['closed', 'closed'])
    expect((await run.stored()).suspension).toEqual(suspension)
    await run.wake(DAY_SECONDS * 1_000)
    const { waitedMs, ...ended } = await run.stored()
    const output = { before: 1, after: 2, runs: 2 }
    expect(ended).toMatchObject({ status: 'SUCCESS', output, attempts: 2 })
    expect(waitedMs).toBeGreaterThanOrEqual(DAY_SECONDS * 1_000)
  })

  it('sends the message of a short wait at once, with a delay', async () => {
    const run = await aStartedRun(`await context.sleep('nap', 60); return {}`)
    expect(run.sent).toMatchObject([{ executionId: run.id, wakes: true }])
    expect(run.sent[0]?.delayMs).toBeGreaterThan(55_000)
  })

  it('does not suspend for a time that has passed', async () => {
    const { started } = await aStartedRun(
      `await context.sleepUntil('then', new Date(0)); return { done: true }`,
    )
    expect(started).toMatchObject({ status: 'SUCCESS', output: { done: true }, attempts: 1 })
  })

  it('returns at once if the time has passed that the agent computes, also when it has waited', async () => {
    const run = await aStartedRun(`
      await context.sleep('nap', 3600 - (runs - 1) * 4000)
      return { done: await context.waitForAny('any', { signals: ['a'], timeoutSeconds: -1 }) }`)
    await run.wake(HOUR_MS)
    expect(await run.stored()).toMatchObject({ status: 'SUCCESS', output: { done: null }, attempts: 2 })
  })

  it('counts as a step', async () => {
    const run = await aRun(`for (let i = 0; ; i++) await context.sleep('s' + i, 0)`)
    const steps = { ...run.engine.steps, read: async () => Array(9_999).fill(SOME_STEP) }
    run.engine.steps = { ...steps, appendResult: async ({ result }) => result }
    await run.engine.executions.claim({ id: run.id, lease: { owner: 'x', expiresAt: 0 }, now: Date.now() })
    run.passTime(1)
    await run.start()
    expect(await run.stored()).toMatchObject({ error: { code: 'MaxAgentStepsExceeded' } })
  })

  it('ends a run that would wait longer than it may', async () => {
    const { started } = await aStartedRun(`await context.sleep('nap', ${31 * DAY_SECONDS}); return {}`)
    expect(started).toMatchObject({ status: 'ERROR', error: { code: 'WaitLimitExceeded' } })
  })
})

describe('context.waitForSignal', () => {
  const WAITS = `return { got: await context.waitForSignal('paid', { timeoutSeconds: 3600 }) }`

  it('takes a signal that was sent before, without being suspended', async () => {
    const run = await aRun(WAITS)
    await run.signal('paid', { amount: 5 })
    await run.start()
    const output = { got: { amount: 5 } }
    expect(await run.stored()).toMatchObject({ status: 'SUCCESS', output, attempts: 1 })
  })

  it('returns null after the timeout, and prefers a signal that was sent before', async () => {
    const late = await aStartedRun(WAITS)
    await late.wake(HOUR_MS)
    expect((await late.stored()).output).toEqual({ got: null })
    const early = await aStartedRun(WAITS)
    await early.signal('paid', 2)
    await early.wake(2 * HOUR_MS)
    expect((await early.stored()).output).toEqual({ got: 2 })
  })

  it('takes the next signal each time that it is called', async () => {
    const run = await aRun(`
      const first = await context.waitForSignal('a')
      await context.step('s', () => context.waitForSignal('a').catch(() => null))
      return { got: [first, ...(await Promise.all([context.waitForSignal('a'), context.waitForSignal('a')]))] }`)
    await run.signal('a', 1)
    await run.start()
    expect((await run.stored()).suspension?.waits).toMatchObject([
      { name: 'a (2)', signals: ['a'] },
      { name: 'a (3)', signals: ['a'] },
    ])
    for (const data of [2, 3]) {
      run.passTime(10)
      await run.signal('a', data)
      await run.wake()
    }
    expect((await run.stored()).output).toEqual({ got: [1, 2, 3] })
  })

  it.each([
    { type: 'string', pattern: '(' },
    { type: 'object', $ref: '#/nope' },
  ])('ends the run if a schema is not valid: %j', async (schema) => {
    const run = await aRun(
      `return { got: await context.waitForSignal('n', { schema: ${JSON.stringify(schema)} }) }`,
    )
    await run.signal('n', {})
    await run.start()
    const message = expect.stringMatching(/^The schema of the wait "n" is not valid: /)
    expect((await run.stored()).error).toMatchObject({ code: 'AgentFailed', message })
  })

  it('skips a signal that does not match the schema, once', async () => {
    const schema = JSON.stringify({ type: 'object', properties: { n: { type: 'number' } }, required: ['n'] })
    const run = await aRun(`return { got: await context.waitForSignal('n', { schema: ${schema} }) }`)
    await run.signal('n', { n: 'x' })
    await run.start()
    expect(await run.stored()).toMatchObject({ status: 'IN_PROGRESS' })
    expect(await run.wake()).toBe('closed')
    run.passTime(10)
    await run.signal('n', { n: 4 })
    await run.wake()
    expect((await run.stored()).output).toEqual({ got: { n: 4 } })
  })
})

describe('context.waitForApproval', () => {
  const ASKS = `return await context.waitForApproval('refund', { title: 'Refund?', data: { usd: 200 }, timeoutSeconds: 3600 })`

  it('returns the decision, with what the approver edited', async () => {
    const run = await aStartedRun(ASKS)
    expect(run.started.suspension?.waits).toMatchObject([
      { kind: 'approval', name: 'refund', id: approvalIdOfWait('refund'), step: 1 },
    ])
    await run.decide('refund', 'approve', { usd: 100 })
    await run.wake()
    const output = { decision: 'approve', data: { usd: 100 }, note: 'ok', by: 'Ann' }
    expect((await run.stored()).output).toEqual(output)
  })

  it('returns a timeout, after which no decision is stored', async () => {
    const run = await aStartedRun(ASKS)
    await run.wake(HOUR_MS)
    const output = { decision: 'timeout', data: { usd: 200 }, note: null, by: null }
    expect((await run.stored()).output).toEqual(output)
    const { result } = await run.decide('refund', 'approve')
    expect(result).toMatchObject({ value: { decision: 'timeout' } })
  })
})

describe('waits beside other work', () => {
  it('finish and store the steps in progress first', async () => {
    const run = await aStartedRun(`
      const [a, b] = await Promise.all([
        (async () => { await context.step('one', async () => { await new Promise(r => setTimeout(r, 50)) })
          return context.step('two', () => runs) })(),
        context.waitForSignal('go'),
      ])
      return { a, b }`)
    const steps = await run.engine.steps.read({ executionId: run.id })
    const names = steps.map(({ step }) => (step.kind === 'MODEL' ? '' : step.name))
    expect(names.sort()).toEqual(['go', 'one', 'two'])
    await run.signal('go', 'now')
    await run.wake()
    expect((await run.stored()).output).toEqual({ a: 1, b: 'now' })
  })

  it.each<[string, string, RegExp]>([
    [
      'inside a step',
      `await context.step('s', () => context.sleep('x', 1)); return {}`,
      /The step "s" cannot wait/,
    ],
    [
      'with the name of another',
      `await context.sleep('x', 0); await context.sleep('x', 0); return {}`,
      /used twice/,
    ],
    ['for no time', `await context.sleep('x', NaN); return {}`, /must be a number of at most 31536000 sec/],
    [
      'for more signals than a record can have',
      `const namesOf = (i) => Array.from({ length: 100 }, (_, j) => (i + '_' + j).padEnd(128, 'x'))
      await Promise.all(Array.from({ length: 50 }, (_, i) => context.waitForAny('w' + i, { signals: namesOf(i) })))
      return {}`,
      /^The database rejected the data/,
    ],
    ...['[]', `Array(101).fill('go')`, `'go'`].map((signals): [string, string, RegExp] => [
      `for the signals ${signals}`,
      `return { done: await context.waitForAny('any', { signals: ${signals} }) }`,
      /signals must be a list of 1 to 100 names\./,
    ]),
    ['for no date', `await context.sleepUntil('x', 'soon'); return {}`, /must be a date/],
    ['for a signal with a bad name', `await context.waitForSignal('a b'); return {}`, /name of a signal/],
    ['for an approval without a title', `await context.waitForApproval('x', {}); return {}`, /title must be/],
    [
      'for too much at once',
      `await Promise.all(Array.from({ length: 101 }, (_, i) => context.sleep('s' + i, 60))); return {}`,
      /may wait for 100 things/,
    ],
  ])('reject a wait %s', async (_, body, message) => {
    const { error } = (await aStartedRun(body)).started
    expect(error).toMatchObject({ code: 'AgentFailed', message: expect.stringMatching(message) })
  })
})

it('a suspended run frees its key of single flight, and caches nothing', async () => {
  const run = await aRun(`await context.sleep('nap', 3600); return { done: true }`)
  const key = system.newId()
  const execution = { ...run.execution, id: system.newId(), cache: { key, ttlSeconds: null } }
  await run.engine.executions.create({ execution })
  await processMessage(run.engine, execution.id)
  expect(await run.engine.executions.getState(execution)).toMatchObject({ suspendedAt: expect.any(Number) })
  expect(await run.engine.cache.get({ key, now: Date.now() })).toBeNull()
  run.passTime(HOUR_MS)
  await processMessage(run.engine, execution.id)
  expect(await run.engine.executions.get(execution)).toMatchObject({ status: 'SUCCESS', cached: false })
  expect(await run.engine.cache.get({ key, now: Date.now() })).toBeNull()
})
