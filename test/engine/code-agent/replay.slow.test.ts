import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Execution } from '../../../lib/core/execution.ts'
import type { Json } from '../../../lib/core/json/json.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { system } from '../../../lib/system.ts'
import { executionOf } from '../../support/engine/executions.ts'
import { aMessage } from '../../support/engine/scripted-engine.ts'
import { anAgent, engine, replayOf, run, stepsOf } from './replays.ts'

const folder = mkdtempSync(join(tmpdir(), 'aes-replay-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** A file that notes which functions of steps are executed: `mark(name)` in an agent. */
function aLog() {
  const file = join(folder, system.newId())
  writeFileSync(file, '')
  return {
    computed: () => readFileSync(file, 'utf8').split('\n').filter(Boolean),
    head: `import { appendFileSync } from 'node:fs'
      const mark = (name) => {
        appendFileSync(${JSON.stringify(file)}, name + '\\n')
        return { name, random: Math.random() }
      }`,
  }
}

/** An original with this body, and a replay of it on another one. */
async function replayed(body: string, draft = body, settings: Parameters<typeof replayOf>[1] = {}) {
  const log = aLog()
  const version = await anAgent(body, log)
  const original = await run(version)
  const before = log.computed()
  const changed = await anAgent(draft, { ...log, of: version })
  const trial = await run(changed, replayOf(original, settings))
  return { original, trial, before, computed: log.computed().slice(before.length) }
}

const STEPS = `
  const first = await context.step('first', () => mark('first'))
  const second = await context.step('second', () => mark('second'))
  return { values: [first, second] }`

describe('a replay of a code agent', () => {
  it('takes the values of its steps from the original, and stores them in its own journal', async () => {
    const { original, trial, computed } = await replayed(STEPS)
    expect(original.status).toBe('SUCCESS')
    expect(trial).toMatchObject({ status: 'SUCCESS', source: 'TRIAL', output: original.output })
    expect(computed).toEqual([])
    expect(await stepsOf(trial)).toEqual(await stepsOf(original))
  })

  it('takes values of any kind', async () => {
    const { original, trial } = await replayed(`return { values: [
      await context.step('null', () => null),
      await context.step('nothing', () => undefined),
      await context.step('false', () => false),
      await context.step('empty', () => ''),
      await context.step('large', () => 'ü'.repeat(1_000_000)),
      await context.step('__proto__', () => ({ a: [] })),
    ] }`)
    expect(original.status).toBe('SUCCESS')
    expect(trial).toMatchObject({ status: 'SUCCESS', output: original.output })
  })

  it.each([1, 2])(
    'continues with the recording after its worker died at write %i of a step',
    async (dyingAt) => {
      const log = aLog()
      const version = await anAgent(STEPS, log)
      const original = await run(version)
      const before = log.computed()
      const execution = executionOf(version, replayOf(original))
      await engine.executions.create({ execution })
      let writes = 0
      const append: typeof engine.steps.append = (params) =>
        ++writes < dyingAt ? engine.steps.append(params) : Promise.reject(new Error('The worker dies.'))
      await processMessage({ ...engine, steps: { ...engine.steps, append } }, execution.id, aMessage(1))
      const stored = await engine.executions.get(execution)
      expect(stored).toMatchObject({ status: 'IN_PROGRESS', steps: dyingAt - 1 })
      await processMessage(engine, execution.id, aMessage(2))
      const ended = (await engine.executions.get(execution)) as Execution
      expect(ended).toMatchObject({ status: 'SUCCESS', output: original.output, attempts: 2 })
      expect(log.computed()).toEqual(before)
    },
  )

  it('ends with the original that it repeats', async () => {
    const version = await anAgent(STEPS, aLog())
    const original = await run(version)
    await engine.executions.delete({ ...original, now: Date.now() })
    expect((await run(version, replayOf(original))).error).toMatchObject({ code: 'ExecutionNotFound' })
  })
})

describe('a step that the original did not have', () => {
  const changed = (how: string) => `
    await context.step('first', () => mark('first'))
    ${how}
    await context.step('second', () => mark('second'))
    return {}`

  it.each([
    ['awaited', `await context.step('new', () => mark('new'))`],
    ['swallowed', `try { await context.step('new', () => mark('new')) } catch {}`],
    ['not awaited', `context.step('new', () => mark('new')).catch(() => {})`],
    [
      'beside others',
      `await Promise.all(['new', 'other'].map((name) => context.step(name, () => mark(name))))`,
    ],
    ['in a race', `await Promise.race([context.step('new', () => mark('new')), 1])`],
  ])('ends the replay as Diverged, and is not executed: %s', async (_, how) => {
    const { trial, computed } = await replayed(STEPS, changed(how))
    const message = 'The original has no recording of the step "new".'
    const error = { code: 'Diverged', message, names: ['new'] }
    expect(trial).toMatchObject({ status: 'ERROR', error })
    expect(computed).toEqual([])
    expect(await stepsOf(trial)).toMatchObject([{ name: 'first' }])
  })

  it('is also one that failed in the original', async () => {
    const body = `try { await context.step('fails', () => { mark('fails'); throw new Error('No.') }) } catch {} return {}`
    const { original, trial, computed } = await replayed(body)
    expect(original.status).toBe('SUCCESS')
    expect(trial.error).toMatchObject({ code: 'Diverged', names: ['fails'] })
    expect(computed).toEqual([])
  })

  it('is also one whose name is that of a wait', async () => {
    const { trial } = await replayed(
      `await context.sleep('nap', 0); return {}`,
      `await context.step('nap', () => mark('nap')); return {}`,
    )
    expect(trial.error).toMatchObject({ code: 'Diverged', names: ['nap'] })
  })

  it('does not contain secrets in the error', async () => {
    const version = await anAgent('return {}', { env: ['SECRET_KEY'] })
    const original = await run(version)
    const body = `await context.step('call ' + process.env.SECRET_KEY, () => mark('x'))`
    const draft = await anAgent(body, { ...aLog(), of: version, env: ['SECRET_KEY'] })
    const environment = { SECRET_KEY: 'sk-of-the-shop' }
    const { error } = await run(draft, replayOf(original), { ...engine, environment })
    expect(error).toMatchObject({ code: 'Diverged' })
    expect(JSON.stringify(error)).not.toContain('sk-of-the-shop')
  })
})

describe('live steps', () => {
  it('are executed and stored as in any run, also those of the original', async () => {
    const draft = `await context.step('new', () => mark('new')); ${STEPS}`
    const { original, trial, computed } = await replayed(STEPS, draft, { steps: 'live' })
    expect(trial.status).toBe('SUCCESS')
    expect(trial.output).not.toEqual(original.output)
    expect(computed).toEqual(['new', 'first', 'second'])
    expect(await stepsOf(trial)).toMatchObject([{ name: 'new' }, { name: 'first' }, { name: 'second' }])
  })

  it.each([1, 2, 3])('begin at step fromStep %i', async (fromStep) => {
    const { original, trial, computed } = await replayed(STEPS, STEPS, { steps: 'live', fromStep })
    expect(computed).toEqual(['first', 'second'].slice(fromStep - 1))
    const values = ({ output }: Execution) => (output as { values: Json[] }).values
    expect(values(trial).slice(0, fromStep - 1)).toEqual(values(original).slice(0, fromStep - 1))
  })

  it('are not executed before or after fromStep if steps are recorded', async () => {
    const { original, trial, computed } = await replayed(STEPS, STEPS, { fromStep: 2 })
    expect(trial.output).toEqual(original.output)
    expect(computed).toEqual([])
  })
})
