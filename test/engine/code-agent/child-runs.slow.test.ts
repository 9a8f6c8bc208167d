import { describe, expect, it } from 'vitest'
import { toStepRecord } from '../../../lib/contract/records/step.ts'
import { UNLIMITED } from '../../../lib/core/access.ts'
import type { Version } from '../../../lib/core/agent.ts'
import { attemptId } from '../../../lib/core/attempts.ts'
import { CANCELLED } from '../../../lib/core/execution-errors.ts'
import { traceparentOf } from '../../../lib/core/traceparent.ts'
import { endExecution } from '../../../lib/engine/end-execution.ts'
import { deleteExecution } from '../../../lib/engine/executions/change-execution.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { system } from '../../../lib/system.ts'
import { aRun, aTable } from '../../support/engine/code-run.ts'
import { aModelAgent } from '../../support/engine/model-agent.ts'

type Options = { child?: string; of?: Partial<Version>; slug?: string } & Parameters<typeof aRun>[1]

/** A run of this code, beside the agent `child` with another one, whose module counts its runs. */
async function aParent(
  body: string,
  { child = 'return { got: input.question, runs }', of, ...others }: Options = {},
) {
  const organizationId = system.newId()
  const code = `let runs = 0\nexport default async (input, context) => { runs++; ${child} }`
  const settings = { organizationId, slug: 'child', code: true, outputSchema: { type: 'object' }, ...of }
  await aModelAgent(settings, { code, table: aTable })
  const run = await aRun(body, { ...others, agent: { organizationId, slug: 'parent', ...others.agent } })
  const { steps } = run.engine
  const records = async () => (await steps.read({ executionId: run.id })).map(toStepRecord)
  return Object.assign(run, {
    records,
    childIds: async () => (await records()).flatMap(({ executionId }) => executionId ?? []),
    process: (id: string, wakes: boolean) =>
      processMessage(run.engine, id, {
        message: { wakes, receiveCount: 1, changeVisibility: async () => undefined },
      }),
  })
}

async function aStartedParent(...given: Parameters<typeof aParent>) {
  const run = await aParent(...given)
  await run.start()
  return run
}

const SETTINGS = { useCache: false, cacheTtlSeconds: null, timeoutSeconds: null }
const SLEEPING = { child: `await context.sleep('nap', 3600); return { done: true }` }
const CALL = `context.run('look up', 'child', { question: 'Who?' })`

describe('context.run', () => {
  it('returns the output of another agent, as one step', async () => {
    const run = await aStartedParent(`return await ${CALL}`)
    expect(await run.stored()).toMatchObject({ output: { got: 'Who?' }, steps: 1 })
    const [record] = await run.records()
    expect(record).toMatchObject({ name: 'look up', agent: 'child', result: { got: 'Who?' } })
    expect(record).not.toHaveProperty('attempts')
    const child = await run.engine.executions.get({ ...run.execution, id: record?.executionId ?? '' })
    expect(child).toMatchObject({ status: 'SUCCESS', parentExecutionId: run.id, input: { question: 'Who?' } })
    // Its parent in the trace is the step.
    expect(child?.traceparent).toBe(traceparentOf(run.execution, 100, `${run.id}-1-${attemptId(1)}`))
  })

  it('throws the error of the agent with its code, the same in each worker', async () => {
    const run = await aStartedParent(
      `const thrown = await ${CALL}.catch(({ name, code, message }) => [name, code, message])
      await context.sleep('nap', 60)
      return { thrown, first: await context.step('first', () => thrown) }`,
      { child: `throw new Error('no ' + runs)` },
    )
    run.passTime(61_000)
    await run.wake()
    const thrown = ['AgentRunError', 'AgentFailed', 'The agent child failed: no 1']
    expect((await run.stored()).output).toEqual({ thrown, first: thrown })
    expect(await run.childIds()).toHaveLength(1)
  })

  it.each([
    ['no agent', `context.run('x', 'nobody', {})`, 'AgentNotFound', /./],
    ['itself', `context.run('x', 'parent', { question: 'Why?' })`, 'AgentNotRun', /in a cycle/],
    [
      'more than it may',
      `Promise.all([1, 2, 3].map((n) => context.run('x' + n, 'child', { question: 'a' })))`,
      'AgentNotRun',
      /has started 2 executions/,
    ],
  ])('refuses to run %s', async (_, call, code, message) => {
    const execution = { ...SETTINGS, maxChildren: 2 }
    const run = await aStartedParent(
      `return { thrown: await ${call}.catch((error) => [error.code, error.message]) }`,
      { agent: { execution } },
    )
    expect((await run.stored()).output).toEqual({ thrown: [code, expect.stringMatching(message)] })
  })

  it.each([
    [`context.run('x', '', {})`, 'The step "x" needs the slug of an agent as its second argument.'],
    [`context.run('x', 'child', [])`, 'The step "x" needs an input as its third argument: an object.'],
    [`context.run('x', 'child', { a: 1n })`, /^The input of The step "x" cannot be serialized as JSON/],
    [
      `context.run('x', 'child', { question: 'a' }).then(() => context.run('x', 'child', { question: 'a' }))`,
      /used twice/,
    ],
    [
      `context.step('s', () => context.run('x', 'child', {}))`,
      'The step "x" runs an agent. It cannot be inside of the step "s".',
    ],
  ])('rejects %s', async (call, message) => {
    const run = await aStartedParent(`await ${call}; return {}`)
    const { error } = await run.stored()
    expect(error?.message).toEqual(typeof message === 'string' ? message : expect.stringMatching(message))
  })

  it('adapts the input, or rejects it if the agent is strict', async () => {
    const call = `context.run('x', 'child', { Question: 'Who?' }).catch(({ code, message }) => ({ code, message }))`
    const adapted = await aStartedParent(`return await ${call}`)
    expect((await adapted.stored()).output).toMatchObject({ got: 'Who?' })
    const execution = { ...SETTINGS, enforceInputSchema: true }
    const strict = await aStartedParent(`return await ${call}`, { of: { execution } })
    expect((await strict.stored()).output).toMatchObject({
      code: 'AgentNotRun',
      message: expect.stringMatching(/^The input does not match the schema of the agent child\. /),
    })
  })

  it('suspends the run while the agent is suspended, and returns its output then', async () => {
    const body = `return { out: await ${CALL}, runs, beside: await context.step('s', () => 1) }`
    const run = await aStartedParent(body, SLEEPING)
    const waits = (await run.stored()).suspension?.waits ?? []
    expect(waits).toMatchObject([{ kind: 'execution', name: 'look up', step: 1, until: null }])
    run.passTime(3_601_000)
    await run.process(waits[0]?.id ?? '', true)
    expect(run.sent.at(-1)).toMatchObject({ executionId: run.id, wakes: true })
    await run.wake()
    expect((await run.stored()).output).toEqual({ out: { done: true }, runs: 2, beside: 1 })
  })

  it('and a step beside it go on at the same time', async () => {
    const run = await aStartedParent(
      `const [a, b] = await Promise.all([${CALL}, context.step('s', { retries: 1, backoff: 20 }, ({ attempt }) => {
        if (attempt === 1) throw new Error('again')
        return attempt
      })]); return { a, b }`,
      SLEEPING,
    )
    const waits = (await run.stored()).suspension?.waits ?? []
    expect(waits.map(({ kind }) => kind).sort()).toEqual(['execution', 'retry'])
    run.passTime(20_001)
    await run.wake()
    expect((await run.stored()).suspension?.waits.map(({ kind }) => kind)).toEqual(['execution'])
    run.passTime(3_600_000)
    await run.process(waits.find(({ kind }) => kind === 'execution')?.id ?? '', true)
    await run.wake()
    expect((await run.stored()).output).toEqual({ a: { done: true }, b: 2 })
  })

  it.each(['before', 'after'])(
    'runs the agent once if its worker dies %s the result is stored',
    async (moment) => {
      const run = await aParent(`return { out: await ${CALL}, after: await context.step('s', () => 1) }`)
      const alive = { ...run.engine }
      const { appendResult } = run.engine.steps
      const dead = () => Promise.reject(new Error('The worker dies here.'))
      run.engine.steps = {
        ...run.engine.steps,
        appendResult: async (params) => {
          if (moment === 'after') await appendResult(params)
          return dead()
        },
      }
      const { finish } = run.engine.executions
      const ofParent =
        <P extends { execution: { id: string } }, R>(write: (params: P) => Promise<R>) =>
        (params: P) =>
          params.execution.id === run.id ? dead() : write(params)
      run.engine.executions = { ...run.engine.executions, finish: ofParent(finish) as never, release: dead }
      await run.start()
      Object.assign(run.engine, alive)
      run.passTime(120_000)
      await run.start()
      expect(await run.stored()).toMatchObject({ status: 'SUCCESS', output: { out: { runs: 1 }, after: 1 } })
    },
  )

  it('ends the agent with the run, whether that is cancelled or fails', async () => {
    const cancelled = await aStartedParent(`return await ${CALL}`, SLEEPING)
    await endExecution(cancelled.engine, { ...cancelled.execution, error: CANCELLED })
    const failing = await aStartedParent(
      `const call = ${CALL}; await context.step('s', () => new Promise((resolve) => setTimeout(resolve, 300))); throw new Error('no')`,
      SLEEPING,
    )
    expect((await failing.stored()).status).toBe('ERROR')
    for (const run of [cancelled, failing])
      expect(await run.engine.executions.listOpenChildren(run.execution)).toEqual([])
  })

  it('is deleted with the run', async () => {
    const run = await aStartedParent(`return await ${CALL}`)
    const [id = ''] = await run.childIds()
    const access = { ...UNLIMITED, organizationId: run.execution.organizationId, tokenId: system.newId() }
    await deleteExecution(run.engine as never, { executionId: run.id, access })
    expect(await run.engine.executions.get({ ...run.execution, id })).toBeNull()
  })

  it('gets an equal part of what is left of the budget of the run', async () => {
    const run = await aParent(
      `const both = await Promise.all(['a', 'b'].map((name) => context.run(name, 'child', { question: name })))
      return { both, last: await context.run('c', 'child', { question: 'c' }) }`,
    )
    const { executions } = run.engine
    const options = { ...run.execution.options, maxTokens: 1_000 }
    const execution = { ...run.execution, id: system.newId(), options }
    await executions.create({ execution })
    await run.process(execution.id, false)
    const steps = await run.engine.steps.read({ executionId: execution.id })
    const budgets = await Promise.all(
      steps.map(async ({ results }) => {
        const id = results.get('attempt-1')?.result.executionId ?? ''
        return (await executions.get({ ...execution, id }))?.options.maxTokens
      }),
    )
    expect(budgets).toEqual([500, 500, 1_000])
  })
})
