import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Version } from '../../../lib/core/agent.ts'
import type { Execution } from '../../../lib/core/execution.ts'
import { executionKey } from '../../../lib/dynamodb/table/keys.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { executionOf } from '../../support/engine/executions.ts'
import { sharedTable } from '../../support/engine/organization.ts'
import { runWorker } from '../../support/processes/worker-process.ts'
import { anAgent, engine, replayOf, run, stepsOf } from './replays.ts'

const folder = mkdtempSync(join(tmpdir(), 'aes-replay-deaths-'))
const log = join(folder, 'log')
afterAll(() => rmSync(folder, { recursive: true }))

const HEAD = `import { appendFileSync } from 'node:fs'
  const mark = (name) => {
    appendFileSync(${JSON.stringify(log)}, name + '\\n')
    return Math.random()
  }`
const BODY = `
  const first = await context.step('first', () => mark('first'))
  const slept = await context.sleep('nap', 0)
  const both = await Promise.all(['left', 'right'].map((name) => context.step(name, () => mark(name))))
  await context.sleep('end', 0)
  return { first, slept, both }`
/** The claim, the renewal before the first step, three steps, two waits with their results, and the end. */
const WRITES = 1 + 1 + 3 + 2 * 2 + 1

const executed = () => readFileSync(log, 'utf8').split('\n').filter(Boolean)

/** A replay that no worker has begun. */
async function aReplay(version: Version, original: Execution, settings = {}) {
  const execution = executionOf(version, replayOf(original, settings))
  await engine.executions.create({ execution })
  return execution
}

const stored = async (execution: Execution) => (await engine.executions.get(execution)) as Execution

const namesOf = async (execution: Execution) =>
  (await stepsOf(execution)).map((step) => ('name' in step ? step.name : null))

describe('a replay of a code agent', () => {
  it(`whose worker is killed after any of its ${WRITES} writes continues with the recording`, async () => {
    writeFileSync(log, '')
    const version = await anAgent(BODY, { head: HEAD })
    const original = await run(version)
    const before = executed().length
    for (let killAfterWrites = 1; killAfterWrites <= WRITES; killAfterWrites++) {
      const execution = await aReplay(version, original)
      const killed = await runWorker(execution.id, { killAfterWrites, environment: {} })
      expect(killed.signal, `after ${killAfterWrites} writes`).toBe('SIGKILL')
      const isCompleted = (await stored(execution)).status === 'SUCCESS'
      expect(isCompleted).toBe(killAfterWrites === WRITES)
      if (!isCompleted) {
        await sharedTable().update(executionKey(execution.id), { set: { leaseExpiresAt: Date.now() - 1 } })
        expect(await processMessage(engine, execution.id)).toBe('processed')
      }
      const ended = await stored(execution)
      expect(ended).toMatchObject({ status: 'SUCCESS', output: original.output, waitedMs: 0 })
      expect((await namesOf(ended)).sort()).toEqual((await namesOf(original)).sort())
      expect(executed()).toHaveLength(before)
    }
  })

  it('with live steps executes none again that was stored before its worker was killed', async () => {
    writeFileSync(log, '')
    const version = await anAgent(BODY, { head: HEAD })
    const original = await run(version)
    for (let killAfterWrites = 2; killAfterWrites < WRITES; killAfterWrites++) {
      const execution = await aReplay(version, original, { steps: 'live', fromStep: 2 })
      await runWorker(execution.id, { killAfterWrites, environment: {} })
      const steps = await stepsOf(execution)
      const before = executed().length
      await sharedTable().update(executionKey(execution.id), { set: { leaseExpiresAt: Date.now() - 1 } })
      await processMessage(engine, execution.id)
      const { output } = await stored(execution)
      expect(output).toMatchObject({ first: original.output?.first, slept: null })
      const repeated = executed().slice(before)
      for (const step of steps) expect(repeated).not.toContain('name' in step && step.name)
      expect(repeated).not.toContain('first')
    }
  })

  it('whose worker is killed before it diverges diverges again, with the same error', async () => {
    writeFileSync(log, '')
    const version = await anAgent(BODY, { head: HEAD })
    const original = await run(version)
    const before = executed().length
    const draft = await anAgent(
      `await context.step('first', () => mark('first')); await context.step('new', () => mark('new'))`,
      { head: HEAD, of: version },
    )
    for (const killAfterWrites of [1, 2, 3, 4]) {
      const execution = await aReplay(draft, original)
      await runWorker(execution.id, { killAfterWrites, environment: {} })
      await sharedTable().update(executionKey(execution.id), { set: { leaseExpiresAt: Date.now() - 1 } })
      await processMessage(engine, execution.id)
      expect((await stored(execution)).error).toMatchObject({ code: 'Diverged', names: ['new'] })
      expect(executed()).toHaveLength(before)
    }
  })

  it('whose original is deleted while no worker has it ends in an error', async () => {
    writeFileSync(log, '')
    const version = await anAgent(BODY, { head: HEAD })
    const original = await run(version)
    const execution = await aReplay(version, original)
    await runWorker(execution.id, { killAfterWrites: 4, environment: {} })
    await engine.executions.delete({ ...original, now: Date.now() })
    await sharedTable().update(executionKey(execution.id), { set: { leaseExpiresAt: Date.now() - 1 } })
    await processMessage(engine, execution.id)
    expect((await stored(execution)).error).toMatchObject({ code: 'ExecutionNotFound' })
  })
})
