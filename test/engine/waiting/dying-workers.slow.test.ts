import fc from 'fast-check'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { type Execution, isFinal } from '../../../lib/core/execution.ts'
import { ExecutionInProgress, ExecutionNotFound } from '../../../lib/core/resource-errors.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { cancelExecution, deleteExecution } from '../../../lib/engine/executions/change-execution.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'
import { engineOn } from '../../support/engine/engine-on.ts'
import { aFamily, ask, HOUR_MS, referenceTo } from '../../support/engine/family.ts'
import { finalAnswer } from '../../support/engine/model-agent.ts'
import { scheduledTable } from '../../support/lifecycle/tables.ts'
import { startScriptedModel } from '../../support/scripted-model/start-scripted-model.ts'
import type { Script } from '../../support/scripted-model/turn.ts'
import { ownTable, scan } from '../../support/tables/memory-table.ts'
import { wrapTable } from '../../support/tables/wrap-table.ts'

const table = await ownTable()
/** Each death in the night, else a sample. */
const STRIDE = inject('isNightly') ? 1 : 11
const scripted = await startScriptedModel()
afterAll(() => scripted.stop())

class Died extends Error {}

/** The same engine in a process that dies after a number of requests to the database and the queue. */
function mortal(engine: Engine, requests: number) {
  let sent = 0
  const dying =
    <A extends unknown[], R>(send: (...args: A) => Promise<R>) =>
    (...args: A): Promise<R> =>
      sent++ < requests ? send(...args) : Promise.reject(new Died())
  const stores = engineOn(wrapTable(table, (_, send) => dying(send)))
  return {
    engine: { ...engine, ...stores, system: engine.system, queue: { send: dying(engine.queue.send) } },
    isDead: () => sent > requests,
  }
}

/** A model that can be asked again. */
const asks =
  (name: string): Script =>
  ({ history }) => ({
    calls: history.some(({ type }) => type === 'result') ? [finalAnswer({ answer: 'Done.' })] : [ask(name)],
  })

/** A parent that calls an agent that calls an agent that sleeps for an hour. */
async function aTree() {
  const family = aFamily({ table, scripted })
  await family.codeAgent('sleeper')
  await family.modelAgent('helper', asks('sleeper'), ['sleeper'])
  const { version, requests } = await family.modelAgent('boss', asks('helper'), ['helper'])
  const parent = await family.create(version)
  const start = (on?: Engine) => family.receive({ executionId: parent.id }, on)
  const descendants = async () => {
    const children = await family.childrenOf(parent)
    return [...children, ...(await Promise.all(children.map(family.childrenOf))).flat()]
  }
  /** What becomes of them when no process dies any more. Messages of the one that died are lost. */
  const recover = async () => {
    family.dropMessages()
    for (let i = 0; i < 30; i++) {
      family.passTime(20 * 60_000)
      await family.sweep()
      await family.deliver()
      if (isFinal(await family.read(parent))) break
    }
    family.passTime(10 * 60_000)
    await family.sweep()
  }
  return { family, parent, requests, start, descendants, recover }
}

type Tree = Awaited<ReturnType<typeof aTree>>

const listed = async () =>
  (await scan(table)).filter(({ openShard, activeShard }) => openShard ?? activeShard)

/** Lets the process die at each of its requests in turn. Returns at how many it has died. */
async function dieEverywhere(
  act: (tree: Tree, on: Engine) => Promise<unknown>,
  check: (tree: Tree) => Promise<unknown>,
): Promise<number> {
  for (let requests = 0; ; requests += STRIDE) {
    const tree = await aTree()
    const process = mortal(tree.family.engine, requests)
    await act(tree, process.engine).catch((error: unknown) => {
      if (!process.isDead()) throw error
    })
    await tree.recover()
    await check(tree)
    expect(await listed(), `after ${requests} requests`).toEqual([])
    if (!process.isDead()) return requests
  }
}

describe('a process that dies at any of its requests', () => {
  it.each([
    { of: 'a parent that is about to wait', worker: -1, least: 20 },
    ...[0, 1, 2].map((worker) => ({ of: 'those that are resumed one after the other', worker, least: 5 })),
  ])('as worker number $worker of $of, loses nothing', async ({ worker, least }) => {
    const deaths = await dieEverywhere(
      async ({ family, start, descendants }, on) => {
        await start(worker < 0 ? on : undefined)
        if (worker < 0) return
        const sleeper = (await descendants()).find(({ callers }) => callers.length === 2)
        family.passTime(HOUR_MS)
        let message = { executionId: sleeper?.id ?? '', wakes: true }
        for (let i = 0; i < worker; i++) {
          await family.receive(message)
          message = family.sent().shift() as typeof message
        }
        await family.receive(message, on)
        // The process that died had taken the messages with it.
        if (worker < 2) family.dropMessages()
      },
      async ({ family, parent, requests, descendants }) => {
        const ended = await family.read(parent)
        expect(ended).toMatchObject({ status: 'SUCCESS', output: { answer: 'Done.' } })
        expect((await descendants()).map(({ status }) => status)).toEqual(['SUCCESS', 'SUCCESS'])
        if (worker === 0 || worker === 1) expect([ended.attempts, requests.length]).toEqual([2, 2])
      },
    )
    expect(deaths).toBeGreaterThan(least)
  })

  it('as the one that cancels the parent, leaves none of its children, and a table that can be cleaned', async () => {
    const deaths = await dieEverywhere(
      async ({ start, parent }, on) => {
        await start()
        await cancelExecution(on, referenceTo(parent))
      },
      async ({ family, parent, descendants }) => {
        const all = [await family.read(parent), ...(await descendants())]
        expect(all.filter((each) => !isFinal(each))).toEqual([])
        if (all[0]?.error?.code === 'Cancelled')
          expect(all.map(({ error }) => error?.code)).toEqual(['Cancelled', 'Cancelled', 'Cancelled'])
        await deleteExecution(family.engine, referenceTo(parent))
        await family.expireEvents()
        const items = await scan(table)
        expect(items.filter(({ pk }) => all.some(({ id }) => pk === `EXEC#${id}`))).toEqual([])
      },
    )
    expect(deaths).toBeGreaterThan(5)
  })
})

const ACTORS = ['resume', 'resume-again', 'cancel', 'cancel-child', 'delete-child', 'sweep'] as const

it('processes that act at the same time end each execution once, and leave none open, listed or forgotten', async () => {
  const params = fc.record({
    actors: fc.subarray([...ACTORS], { minLength: 2 }),
    /** Whether the child has ended before: then its end resumes the parent. */
    hasEnded: fc.boolean(),
  })
  const property = fc.asyncProperty(params, fc.scheduler(), async ({ actors, hasEnded }, scheduler) => {
    const tree = await aTree()
    const { family, parent, requests, start, descendants, recover } = tree
    await start()
    const [child, sleeper] = (await descendants()) as [Execution, Execution]
    family.passTime(HOUR_MS)
    await family.receive({ executionId: sleeper.id, wakes: true })
    if (hasEnded) await family.receive({ executionId: child.id, wakes: true })
    family.dropMessages()
    const { queue, system } = family.engine
    const on = { ...family.engine, ...engineOn(scheduledTable(table, scheduler)), queue, system }
    const resumed = { executionId: hasEnded ? parent.id : child.id, wakes: true }
    const roles: Record<(typeof ACTORS)[number], () => Promise<unknown>> = {
      resume: () => family.receive(resumed, on),
      'resume-again': () => family.receive(resumed, on),
      cancel: () => cancelExecution(on, referenceTo(parent)),
      'cancel-child': () => cancelExecution(on, referenceTo(child)),
      'delete-child': () => deleteExecution(on, referenceTo(child)).catch(ignoreRefusal),
      sweep: () => family.sweep(on),
    }
    await scheduler.waitFor(Promise.all(actors.map((actor) => roles[actor]())))
    await recover()
    const ended = await family.read(parent)
    expect(isFinal(ended)).toBe(true)
    expect((await descendants()).filter((each) => !isFinal(each))).toEqual([])
    if (actors.includes('delete-child')) await family.expireEvents()
    expect(await listed()).toEqual([])
    if (!actors.includes('cancel')) expect([ended.status, requests.length]).toEqual(['SUCCESS', 2])
  })
  await fc.assert(property, { numRuns: propertyRuns(30) })
})

/** Of the deletion of an execution that is open, or that its parent still needs. */
function ignoreRefusal(error: unknown): void {
  if (!(error instanceof ExecutionInProgress || error instanceof ExecutionNotFound)) throw error
}
