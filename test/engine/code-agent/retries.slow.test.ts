import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { toStepRecord } from '../../../lib/contract/records/step.ts'
import { Unavailable } from '../../../lib/core/errors.ts'
import type { Execution } from '../../../lib/core/execution.ts'
import { CANCELLED } from '../../../lib/core/execution-errors.ts'
import { toPointerTree } from '../../../lib/core/json/pointer.ts'
import { endExecution } from '../../../lib/engine/end-execution.ts'
import { compareSteps } from '../../../lib/engine/replay/compare-executions.ts'
import { system } from '../../../lib/system.ts'
import { aRun } from '../../support/engine/code-run.ts'
import { anAgent, engine, replayOf, run as runAgent } from './replays.ts'

const folder = mkdtempSync(join(tmpdir(), 'aes-retries-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** A run whose agent has `call(label)`, which counts calls across workers, and returns how often it was called. */
async function aFlakyRun(body: string, overrides: Parameters<typeof aRun>[1] = {}) {
  const log = join(folder, system.newId())
  const run = await aRun(
    `const { appendFileSync, readFileSync } = await import('node:fs')
    const call = (label) => {
      appendFileSync('${log}', label + '\\n')
      return readFileSync('${log}', 'utf8').split('\\n').filter((line) => line === label).length
    }
    /** Fails as often as it says. */
    const failing = (times, label = 'call') => () => {
      const calls = call(label)
      if (calls <= times) throw Object.assign(new RangeError('no ' + calls), { code: 'E' + calls })
      return calls
    }
    ${body}`,
    overrides,
  )
  const lines = () => {
    try {
      return readFileSync(log, 'utf8').trim().split('\n')
    } catch {
      return []
    }
  }
  /** Lets the time pass until what the run waits for is over. */
  const passBackoff = async () => {
    const { suspension } = await run.stored()
    if (!suspension) throw new Error('The run is not suspended.')
    run.passTime(Math.max(suspension.until - run.engine.system.now(), 0) + 1)
    return suspension
  }
  return {
    ...run,
    calls: (label = 'call') => lines().filter((line) => line === label).length,
    records: async () => (await run.engine.steps.read({ executionId: run.id })).map(toStepRecord),
    waits: async () => (await run.stored()).suspension?.waits ?? [],
    passBackoff,
    /** Another worker goes on with the run when its wait is over. */
    resume: () => passBackoff().then(() => run.wake()),
  }
}

async function aStartedRun(...given: Parameters<typeof aFlakyRun>) {
  const run = await aFlakyRun(...given)
  await run.start()
  return run
}

const recordsOf = async ({ id }: Execution) =>
  (await engine.steps.read({ executionId: id })).map(toStepRecord)

describe('a step with retries', () => {
  it('is attempted again until it succeeds, and counts once', async () => {
    const run = await aStartedRun(
      `return { value: await context.step('charge', { retries: 3, backoff: 0.01 }, failing(2)) }`,
    )
    expect(await run.stored()).toMatchObject({ output: { value: 3 }, steps: 1, attempts: 1 })
    const records = await run.records()
    const retryAt = expect.any(String)
    const failedAttempts = [
      { error: { name: 'RangeError', message: 'no 1', code: 'E1' }, retryAt, attempt: 1 },
      { error: { name: 'RangeError', message: 'no 2', code: 'E2' }, retryAt },
    ]
    expect(records).toMatchObject([{ number: 1, name: 'charge', result: 3, attempts: 3, failedAttempts }])
    expect(records[0]?.backoffMs).toBeGreaterThan(0)
  })

  it('is one item of the journal like any other if it does not fail', async () => {
    const run = await aStartedRun(
      `return { value: await context.step('charge', { retries: 3 }, failing(0)) }`,
    )
    expect(await run.records()).toEqual([expect.not.objectContaining({ attempts: expect.anything() })])
  })

  it('throws the last error after its retries, the same in each worker', async () => {
    const run = await aStartedRun(`
      const thrown = await context.step('charge', { retries: 2, backoff: 0 }, failing(9))
        .catch(({ name, message, code }) => [name, message, code])
      await context.sleep('nap', 3600)
      return { runs, thrown, before: await context.step('before', () => thrown) }`)
    await run.resume()
    const thrown = ['RangeError', 'no 3', 'E3']
    expect((await run.stored()).output).toMatchObject({ thrown, before: thrown })
    expect(run.calls()).toBe(3)
    expect((await run.records())[0]).toMatchObject({ error: 'no 3', attempts: 3 })
  })

  it('ends the run at the place of the step if the agent does not catch its error', async () => {
    const run = await aStartedRun(
      `return await context.step('charge', { retries: 1, backoff: 0 }, failing(9))`,
    )
    const error = { code: 'AgentFailed', message: 'no 2' }
    expect(await run.stored()).toMatchObject({ status: 'ERROR', error })
  })

  it('gives its function the number of the attempt, and a signal', async () => {
    const run =
      await aStartedRun(`return { seen: await context.step('s', { retries: 2, backoff: 0 }, ({ attempt, signal }) => {
      if (attempt < 3) throw new Error('again')
      return [attempt, signal.aborted]
    }), plain: await context.step('p', ({ attempt, signal }) => [attempt, signal.aborted]) }`)
    expect((await run.stored()).output).toEqual({ seen: [3, false], plain: [1, false] })
  })

  it('refuses steps inside of it, which would be repeated', async () => {
    const run = await aStartedRun(
      `return await context.step('outer', { retries: 1, backoff: 0 }, () => context.step('inner', () => 1))`,
    )
    expect((await run.stored()).error?.message).toBe(
      'The step "inner" is inside of the step "outer", whose options may repeat it.',
    )
  })

  it('keeps little of a long error, and no secret', async () => {
    const run = await aStartedRun(
      `return await context.step('s', { retries: 10, backoff: 0 }, () => { throw new Error(process.env.KEY + 'x'.repeat(100_000) + process.env.KEY) })`,
      { agent: { env: ['KEY'] }, environment: { KEY: 'a-secret-value' } },
    )
    const [record] = await run.records()
    expect(record?.attempts).toBe(11)
    const text = JSON.stringify(record)
    expect(text).not.toContain('a-secret-value')
    expect(text.length).toBeLessThan(11 * 5_000)
    expect(text).toContain('[secret KEY]xxx')
  })
})

describe('retryIf', () => {
  it('decides which errors are tried again', async () => {
    const run = await aStartedRun(`
      const retryIf = (error) => error instanceof RangeError && error.code !== 'E2'
      return { message: await context.step('s', { retries: 5, backoff: 0, retryIf }, failing(9)).catch((error) => error.message) }`)
    expect((await run.stored()).output).toEqual({ message: 'no 2' })
    expect(run.calls()).toBe(2)
  })

  it('may be asynchronous', async () => {
    const run = await aStartedRun(
      `return await context.step('s', { retries: 5, backoff: 0, retryIf: async () => false }, failing(9))`,
    )
    expect(run.calls()).toBe(1)
  })

  it('that throws ends the step with both errors', async () => {
    const run = await aStartedRun(
      `return await context.step('s', { retries: 5, backoff: 0, retryIf: () => { throw new Error('oops') } }, failing(9))`,
    )
    expect((await run.stored()).error?.message).toBe(
      'retryIf of the step "s" threw "oops" for this error: no 1',
    )
    expect(run.calls()).toBe(1)
    expect((await run.records())[0]?.failedAttempts).toMatchObject([{ retryAt: null }])
  })
})

describe('timeoutSeconds of a step', () => {
  it('aborts the signal of the attempt, and drops what a function returns that ignores it', async () => {
    const run = await aStartedRun(`
      const seen = []
      const value = await context.step('s', { retries: 1, backoff: 0, timeoutSeconds: 0.05, retryIf: ({ name }) => name === 'TimeoutError' },
        async ({ attempt, signal }) => {
          if (attempt === 2) return 'second'
          signal.addEventListener('abort', () => seen.push(signal.reason.name))
          await new Promise((resolve) => setTimeout(resolve, 100))
          return 'first'
        })
      await new Promise((resolve) => setTimeout(resolve, 100))
      return { value, seen }`)
    expect((await run.stored()).output).toEqual({ value: 'second', seen: ['TimeoutError'] })
    expect((await run.records())[0]?.failedAttempts).toMatchObject([
      { error: { name: 'TimeoutError', message: 'The attempt 1 at the step "s" timed out after 0.05 s.' } },
    ])
  })

  it.each([
    ['a function that never ends', 'new Promise(() => {})', 1],
    ['no function that has ended', 'new Promise((resolve) => setTimeout(resolve, 50))', 2],
  ])('abandons a thread with %s', async (_, going, runs) => {
    const run = await aStartedRun(`
      const name = await context.step('s', { timeoutSeconds: 0.02 }, () => ${going}).catch(({ name }) => name)
      await context.step('pause', () => new Promise((resolve) => setTimeout(resolve, 100)))
      await context.sleep('nap', 60)
      return { name, runs }`)
    await run.resume()
    expect((await run.stored()).output).toEqual({ name: 'TimeoutError', runs })
  })
})

describe('a backoff', () => {
  it('of 10 s suspends the run, which nothing resumes before its time', async () => {
    const run = await aStartedRun(
      `return { value: await context.step('charge', { retries: 3, backoff: 10 }, failing(1)), runs }`,
    )
    const { suspension, lease } = await run.stored()
    expect(lease).toBeNull()
    expect(suspension?.waits).toMatchObject([{ kind: 'retry', name: 'charge', step: 1 }])
    const [wait] = await run.waits()
    const ms = Date.parse(wait?.until ?? '') - Date.parse(wait?.since ?? '')
    expect(ms).toBeGreaterThanOrEqual(7_500)
    expect(ms).toBeLessThanOrEqual(10_000)
    expect(suspension?.until).toBe(Date.parse(wait?.until ?? ''))
    expect(run.sent).toMatchObject([{ executionId: run.id, wakes: true }])
    expect(await run.wake()).toBe('closed')
    await run.resume()
    expect(await run.stored()).toMatchObject({ output: { value: 2, runs: 2 }, attempts: 2, steps: 1 })
    expect((await run.records())[0]?.backoffMs).toBeGreaterThanOrEqual(7_500)
  })

  it('doubles up to 300 s from one worker to the next', async () => {
    const run = await aStartedRun(
      `return await context.step('charge', { retries: 4, backoff: 100 }, failing(9))`,
    )
    const seconds: number[] = []
    while ((await run.stored()).status === 'IN_PROGRESS') {
      const { at, until } = await run.passBackoff()
      seconds.push((until - at) / 1_000)
      await run.wake()
    }
    const nominal = [100, 200, 300, 300]
    expect(seconds).toHaveLength(4)
    for (const [index, most] of nominal.entries()) {
      expect(seconds[index]).toBeLessThanOrEqual(most)
      expect(seconds[index]).toBeGreaterThan(most * 0.74)
    }
    expect(run.calls()).toBe(5)
    expect(await run.stored()).toMatchObject({ status: 'ERROR', error: { message: 'no 5' }, steps: 1 })
  })

  it('below 10 s holds the worker, and ends with the time limit of the run', async () => {
    const execution = { useCache: false, cacheTtlSeconds: null, maxAgentSteps: 100, timeoutSeconds: 1 }
    const run = await aStartedRun(
      `return await context.step('charge', { retries: 3, backoff: 9.9 }, failing(9))`,
      { agent: { execution } },
    )
    expect(await run.stored()).toMatchObject({ status: 'ERROR', error: { code: 'TimedOut' }, attempts: 1 })
    expect(run.calls()).toBe(1)
  })

  it('that was suspended ends with the run when it is cancelled', async () => {
    const run = await aStartedRun(
      `return await context.step('charge', { retries: 3, backoff: 60 }, failing(9))`,
    )
    await endExecution(run.engine, { ...run.execution, error: CANCELLED })
    run.passTime(60_000)
    await run.wake()
    expect(await run.stored()).toMatchObject({ status: 'ERROR', error: { code: 'Cancelled' } })
    expect(run.calls()).toBe(1)
  })

  it('suspends nothing while another step is in progress, and wakes the run for the earliest', async () => {
    const run = await aStartedRun(`
      const at = (label, backoff) => context.step(label, { retries: 1, backoff }, failing(1, label))
      const slow = context.step('slow', () => new Promise((resolve) => setTimeout(resolve, 100, runs)))
      return { all: await Promise.all([at('late', 300), at('early', 20), at('middle', 40), slow]) }`)
    expect((await run.waits()).map(({ name }) => name)).toEqual(['early', 'middle', 'late'])
    expect((await run.records()).find(({ name }) => name === 'slow')).toMatchObject({ result: 1 })
    const { until } = await run.passBackoff()
    expect(until).toBe(Date.parse((await run.waits())[0]?.until ?? ''))
    await run.wake()
    expect([run.calls('early'), run.calls('middle'), run.calls('late')]).toEqual([2, 1, 1])
    expect((await run.waits()).map(({ name }) => name)).toEqual(['middle', 'late'])
    while ((await run.stored()).status === 'IN_PROGRESS') await run.resume()
    expect((await run.stored()).output).toEqual({ all: [2, 2, 2, 1] })
  })

  it('of which less than 10 s are left holds the worker that something else has woken', async () => {
    const run = await aStartedRun(`
      const at = (label, backoff) => context.step(label, { retries: 1, backoff }, failing(1, label))
      return { all: await Promise.all([at('a', 10), at('b', 20)]) }`)
    const last = (await run.waits()).at(-1)
    run.passTime(Date.parse(last?.until ?? '') - run.engine.system.now() - 100)
    await run.wake()
    expect(await run.stored()).toMatchObject({ output: { all: [2, 2] }, attempts: 2 })
  })

  it('of more steps than a run may wait for suspends it until the earliest', async () => {
    const run = await aStartedRun(`
      const all = Array.from({ length: 130 }, (_, i) => context.step('s' + i, { retries: 1, backoff: 300 }, failing(1, 's' + i)))
      return { all: (await Promise.all(all)).length }`)
    expect(await run.waits()).toHaveLength(100)
    run.passTime(301_000)
    await run.wake()
    expect((await run.stored()).output).toEqual({ all: 130 })
  })

  it('and another wait: the run goes on with what comes first', async () => {
    const run = await aStartedRun(`
      const charge = context.step('charge', { retries: 1, backoff: 100 }, failing(1))
      const go = await context.waitForSignal('go')
      return { go, value: await charge }`)
    expect((await run.waits()).map(({ kind }) => kind)).toEqual(['signal', 'retry'])
    await run.signal('go', 'now')
    await run.wake()
    expect((await run.waits()).map(({ kind }) => kind)).toEqual(['retry'])
    expect(run.calls()).toBe(1)
    await run.resume()
    expect((await run.stored()).output).toEqual({ go: 'now', value: 2 })
  })
})

describe('attempts that were made', () => {
  it('are not made again if the options promise fewer in the next worker', async () => {
    const run = await aStartedRun(`
      return await context.step('charge', { retries: runs === 1 ? 5 : 0, backoff: 10 }, failing(9))`)
    await run.resume()
    expect(await run.stored()).toMatchObject({ status: 'ERROR', error: { message: 'no 1' } })
    expect(run.calls()).toBe(1)
  })

  it('are final if retryIf said so, whatever the options are in the next worker', async () => {
    const run = await aStartedRun(`
      const first = runs === 1
      const message = await context.step('charge', { retries: 5, backoff: 0, retryIf: () => !first }, failing(1)).catch(({ message }) => message)
      await context.sleep('nap', 60)
      return { message }`)
    await run.resume()
    expect((await run.stored()).output).toEqual({ message: 'no 1' })
    expect(run.calls()).toBe(1)
  })
})

describe.each(['before', 'after'])('a worker that dies %s a write', (moment) => {
  it.each([1, 2, 3, 4, 5])('repeats no attempt that is stored: write %i', async (nth) => {
    const run = await aStartedRun(`
      const charged = await context.step('charge', { retries: 2, backoff: 0 }, failing(2))
      return { charged, next: await context.step('next', () => call('next')) }`)
    const alive = { ...run.engine }
    let writes = 0
    const dying =
      <A extends unknown[], R>(write: (...given: A) => Promise<R>) =>
      async (...given: A): Promise<R> => {
        const isLast = ++writes === nth
        if (writes > nth || (isLast && moment === 'before')) throw new Error('The worker dies here.')
        const written = await write(...given)
        if (isLast) throw new Error('The worker dies here.')
        return written
      }
    const die = () => Promise.reject(new Error('The worker is dead.'))
    const { append, appendResult } = run.engine.steps
    run.engine.steps = { ...run.engine.steps, append: dying(append), appendResult: dying(appendResult) }
    run.engine.executions = { ...run.engine.executions, finish: die, release: die }
    await run.start()
    Object.assign(run.engine, alive)
    const stored = (await run.records()).at(0)?.attempts ?? 0
    expect(run.calls() - stored).toBeLessThanOrEqual(1)
    run.passTime(120_000)
    const { status, steps, output } = await run.stored()
    expect({ status, steps }).toEqual({ status: 'SUCCESS', steps: 2 })
    expect(run.calls()).toBe(output?.charged)
    expect(run.calls() + run.calls('next')).toBeLessThanOrEqual(5)
    expect((await run.records())[0]?.attempts).toBeLessThanOrEqual(3)
  })
})

it('an attempt whose result the database does not store is lost, as a step is', async () => {
  const run = await aFlakyRun(`return await context.step('charge', { retries: 2, backoff: 0 }, failing(1))`)
  const { steps } = run.engine
  const appendResult: typeof steps.appendResult = async (params) => {
    if (params.result.result.ok) throw new Unavailable(new Error('throttled'))
    return steps.appendResult(params)
  }
  run.engine.steps = { ...steps, appendResult }
  for (let deliveries = 0; deliveries < 10; deliveries++) {
    await run.start()
    run.passTime(1_000_000)
  }
  expect(await run.stored()).toMatchObject({ status: 'ERROR', lostSteps: Array(5).fill(expect.anything()) })
  expect(run.calls()).toBe(6)
})

describe('a replay', () => {
  const RETRIES = `
    const log = '${folder}/' + input.question
    const call = () => {
      appendFileSync(log, 'x')
      return readFileSync(log, 'utf8').length
    }
    const flaky = () => {
      const calls = call()
      if (calls < 3) throw new Error('no ' + calls)
      return calls
    }
    const charged = await context.step('charge', { retries: 3, backoff: 0.01 }, flaky)
    const refused = await context.step('refused', { retries: 1, backoff: 0.01 }, () => { throw new TypeError('no') })
      .catch(({ name, message }) => name + ': ' + message)
    return { charged, refused }`
  const head = `import { appendFileSync, readFileSync } from 'node:fs'`
  const output = { charged: 3, refused: 'TypeError: no' }

  it('ends as its original did, with its attempts, and calls nothing', async () => {
    const version = await anAgent(RETRIES, { head })
    const question = system.newId()
    const original = await runAgent(version, { input: { question } })
    expect(original.output).toEqual(output)
    // Longer than a test may take, if the replay waited.
    const slow = await anAgent(RETRIES.replaceAll('backoff: 0.01', 'backoff: 300'), { head, of: version })
    const replayed = await runAgent(slow, replayOf(original))
    expect(replayed).toMatchObject({ output, steps: 2 })
    expect(readFileSync(join(folder, question), 'utf8')).toBe('xxx')
    const [theirs, own] = await Promise.all([original, replayed].map(recordsOf))
    const shown = (records: typeof theirs) =>
      records?.map(({ name, attempts, failedAttempts, result, error }) => ({
        name,
        attempts,
        result,
        error,
        messages: failedAttempts?.map((failed) => failed.error.message),
      }))
    expect(shown(own)).toEqual(shown(theirs))
    const ignored = toPointerTree([])
    const { steps } = await compareSteps(engine.steps, { left: original.id, right: replayed.id, ignored })
    expect(steps).toMatchObject([{ isSame: true }, { isSame: true }])
  })

  it('makes attempts, and holds its worker meanwhile, if its steps are live', async () => {
    const version = await anAgent(RETRIES, { head })
    const original = await runAgent(version, { input: { question: system.newId() } })
    const question = system.newId()
    const live = replayOf(original, { steps: 'live' })
    const replayed = await runAgent(version, { ...live, input: { question } })
    expect(replayed.output).toEqual(output)
    expect(readFileSync(join(folder, question), 'utf8')).toBe('xxx')
  })

  it('needs no attempt that the original did not live to make', async () => {
    const version = await anAgent(`
      const charge = context.step('charge', { retries: 1, backoff: 5 }, () => { throw new Error('no') })
      await context.step('other', { retries: 0 }, () => new Promise((_, reject) => setTimeout(reject, 100, new Error('other'))))
      await charge`)
    const original = await runAgent(version)
    expect(original.error?.message).toBe('other')
    const replayed = await runAgent(version, replayOf(original))
    expect(replayed.error).toMatchObject({ code: 'AgentFailed', message: 'other' })
    const body = `return await context.step('charge', { retries: 1, backoff: 0 }, () => 1)`
    const waits = await runAgent(await anAgent(body, { of: version }), replayOf(original))
    expect(waits.error).toMatchObject({ code: 'Diverged', names: ['charge'] })
  })
})

describe('options of a step', () => {
  it.each([
    ...[11, -1, 1.5].map((retries) => [
      `{ retries: ${retries} }`,
      `retries of the step "s" is ${retries}; it must be an integer from 0 to 10.`,
    ]),
    ...[301, -1].map((backoff) => [
      `{ backoff: ${backoff} }`,
      `backoff of the step "s" is ${backoff}; it must be a number of seconds from 0 to 300.`,
    ]),
    ...['0', `'5'`].map((timeout) => [
      `{ timeoutSeconds: ${timeout} }`,
      `timeoutSeconds of the step "s" is ${timeout}; it must be a number of seconds above 0 and at most 86400.`,
    ]),
    ['{ retryIf: true }', 'retryIf of the step "s" is true; it must be a function.'],
    [
      '{ retry: 3 }',
      'The options of the step "s" have the unknown member "retry"; allowed are retries, backoff, timeoutSeconds, retryIf.',
    ],
    ['null', 'The options of the step "s" must be an object, not null.'],
    ['3', 'The options of the step "s" must be an object, not 3.'],
  ])('are checked: %s', async (options, message) => {
    const run = await aStartedRun(`return await context.step('s', ${options}, failing(0))`)
    expect((await run.stored()).error).toMatchObject({ code: 'AgentFailed', message })
    expect(run.calls()).toBe(0)
  })

  it('may be undefined', async () => {
    const run = await aStartedRun(
      `return { value: await context.step('s', { retries: 1, backoff: undefined, retryIf: undefined, timeoutSeconds: null }, failing(0)) }`,
    )
    expect((await run.stored()).output).toEqual({ value: 1 })
  })
})
