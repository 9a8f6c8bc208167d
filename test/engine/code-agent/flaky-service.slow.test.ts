import { expect, inject, it, onTestFinished } from 'vitest'
import { attemptsAt } from '../../../lib/core/attempts.ts'
import { seededRandom } from '../../support/data/random.ts'
import { readSeed } from '../../support/data/seed.ts'
import { aRun } from '../../support/engine/code-run.ts'
import { aFlakyService } from '../../support/engine/flaky-service.ts'

const STEPS = inject('isNightly') ? 300 : 60
const KILLS = 5
const RETRIES = 8
const FAILURES = 0.3

/**
 * Steps that call a service which fails at random, in workers that die between two writes. The clock moves only while
 * the run has no worker.
 */
it(`${STEPS} steps with a flaky service, in workers that are killed ${KILLS} times, have each effect once for each success, attempts as declared, and no worker in backoffs`, async () => {
  const seed = readSeed()
  const random = seededRandom(seed, 'flaky service')
  const service = await aFlakyService(() => random.next() < FAILURES)
  onTestFinished(service.stop)
  const run = await aRun(`
        const effect = (i) => async ({ signal }) => {
          const response = await fetch('${service.url}/' + i, { method: 'POST', signal })
          if (!response.ok) throw new Error('HTTP ' + response.status)
          return response.json()
        }
        const values = []
        for (let i = 0; i < ${STEPS}; i++)
          values.push(await context.step('step ' + i, { retries: ${RETRIES}, backoff: 10 }, effect(i)))
        return { values }`)
  const alive = { ...run.engine }
  const kills = random.shuffle(Array.from({ length: STEPS }, (_, index) => index + 1)).slice(0, KILLS)
  let writes = 0
  const mortal = <A extends unknown[], R>(write: (...given: A) => Promise<R>) => {
    return async (...given: A): Promise<R> => {
      const position = kills.indexOf(++writes)
      if (position === -1) return write(...given)
      // The write may have arrived before.
      if (position % 2 === 1) await write(...given)
      run.engine.executions = { ...alive.executions, finish: die, release: die }
      return die()
    }
  }
  const die = () => Promise.reject(new Error('The worker dies here.'))
  run.engine.steps = {
    ...alive.steps,
    append: mortal(alive.steps.append),
    appendResult: mortal(alive.steps.appendResult),
  }
  let suspensions = 0
  let dead = 0
  for (let workers = 0; (await run.stored()).status === 'IN_PROGRESS'; workers++) {
    if (workers > 4 * STEPS) throw new Error(`The run does not end (seed ${seed}).`)
    await (suspensions > 0 && (await run.stored()).suspension ? run.wake() : run.start())
    run.engine.executions = alive.executions
    const { status, suspension, lease } = await run.stored()
    if (status !== 'IN_PROGRESS') break
    if (suspension) {
      suspensions++
      expect([lease, suspension.waits.map(({ kind }) => kind)]).toEqual([null, ['retry']])
      run.passTime(Math.max(suspension.until - run.engine.system.now(), 0) + 1)
    } else {
      dead++
      run.passTime(90_000)
    }
  }
  const ended = await run.stored()
  const steps = await alive.steps.read({ executionId: run.id })
  const failures = steps.map((step) => attemptsAt(step).filter(({ result }) => !result.ok).length)
  expect({ ...ended, dead }).toMatchObject({ status: 'SUCCESS', steps: STEPS, dead: KILLS })
  expect(Math.max(...failures)).toBeLessThanOrEqual(RETRIES)
  const failed = failures.reduce((sum, count) => sum + count, 0)
  // Each failure that is stored has suspended the run, unless its worker died first.
  expect(suspensions).toBeLessThanOrEqual(failed)
  expect(suspensions).toBeGreaterThanOrEqual(failed - KILLS)
  // Only a worker that dies before the attempt is stored repeats one.
  expect(service.calls() - failed - STEPS).toBeLessThanOrEqual(KILLS)
  const effects = service.effects()
  expect(effects.size).toBe(STEPS)
  const repeated = [...effects.values()].reduce((sum, count) => sum + count - 1, 0)
  expect(repeated).toBeLessThanOrEqual(KILLS)
  expect(ended.waitedMs).toBeGreaterThanOrEqual(suspensions * 7_500)
})
