import { afterAll, describe, expect, it } from 'vitest'
import type { Execution } from '../../../lib/core/execution.ts'
import { CANCELLED } from '../../../lib/core/execution-errors.ts'
import { ExecutionInProgress } from '../../../lib/core/resource-errors.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { cancelExecution, deleteExecution } from '../../../lib/engine/executions/change-execution.ts'
import { runInProcess } from '../../../lib/engine/submit/submit.ts'
import { runOptions } from '../../support/engine/executions.ts'
import { aFamily, ask, asksOnce, HOUR_MS, referenceTo, SLEEPS } from '../../support/engine/family.ts'
import { httpTool, startToolServer } from '../../support/engine/model-agent.ts'
import { startScriptedModel } from '../../support/scripted-model/start-scripted-model.ts'
import type { ScriptedCall } from '../../support/scripted-model/turn.ts'
import { ownTable, scan } from '../../support/tables/memory-table.ts'

const table = await ownTable()
const scripted = await startScriptedModel()
const server = await startToolServer((path, response) => void response.end(JSON.stringify({ path })))
afterAll(() => Promise.all([scripted.stop(), server.stop()]))

const newFamily = () => aFamily({ table, scripted })

type Family = ReturnType<typeof newFamily>

/** The items of an organization, and of those of its executions that it deleted. */
async function itemsOf({ organizationId }: Family) {
  const items = await scan(table)
  const pks = items.filter((item) => item.organizationId === organizationId).map(({ pk }) => pk)
  return items.filter(({ pk }) => pks.includes(pk) && String(pk).startsWith('EXEC#'))
}

/** How many of the organization's executions the index of open executions has: running or final ones, and timers. */
async function listedOf(family: Family) {
  const shards = (await itemsOf(family)).flatMap(({ openShard, activeShard }) =>
    [openShard, activeShard].filter((shard) => shard !== undefined).map(String),
  )
  const count = (prefix: string) => shards.filter((shard) => shard.startsWith(prefix)).length
  return { open: count('OPEN#') + count('ACTIVE#'), timers: count('TIMER#') }
}

type Setup = {
  slugs?: string[]
  body?: string
  /** Others than those of the agents. */
  calls?: ScriptedCall[]
  tools?: (string | object)[]
  overrides?: object
  /** Called before its worker suspends an execution. */
  beforeSuspension?: (family: Family, parent: Execution, suspended: { id: string }) => Promise<unknown>
}

/** A parent that is suspended because the agents that it called sleep for an hour. */
async function aSuspendedParent({ slugs = ['sleeper'], tools = slugs, ...setup }: Setup = {}) {
  const { body = SLEEPS, calls = [], overrides, beforeSuspension = async () => {} } = setup
  const family = newFamily()
  for (const slug of slugs) await family.codeAgent(slug, body)
  const script = asksOnce([...slugs.map((slug, index) => ask(slug, `c${index + 1}`)), ...calls])
  const { version, requests } = await family.modelAgent('boss', script, tools, overrides)
  const parent = await family.create(version)
  const { executions } = family.engine
  const suspend: typeof executions.suspend = async (params) => {
    await beforeSuspension(family, parent, params.execution)
    return executions.suspend(params)
  }
  const on = { ...family.engine, executions: { ...executions, suspend } }
  await family.receive({ executionId: parent.id }, on)
  const children = (await family.childrenOf(parent)) as [Execution, ...Execution[]]
  return { family, parent, children, child: children[0], requests }
}

/** A parent, its child and its grandchild, all of them suspended. */
async function threeLevels(usage?: object) {
  const family = newFamily()
  await family.codeAgent('sleeper')
  const calling = (slug: string) => (asksOnce([ask(slug)]) as object[]).map((turn) => ({ ...turn, ...usage }))
  const helper = await family.modelAgent('helper', calling('sleeper'), ['sleeper'])
  const boss = await family.modelAgent('boss', calling('helper'), ['helper'])
  const parent = await family.create(boss.version)
  await family.receive({ executionId: parent.id })
  const [child] = (await family.childrenOf(parent)) as [Execution]
  const [grandchild] = (await family.childrenOf(child)) as [Execution]
  return { family, parent, child, grandchild, requests: [helper.requests, boss.requests] }
}

/** What the model was shown of the result of its call. */
const shownTo = (requests: Awaited<ReturnType<typeof aSuspendedParent>>['requests']) =>
  requests[1]?.history.flatMap((item) => (item.type === 'result' ? [item.output] : [])).join()

/** The child's timer resumes it without its parent. */
async function wakeChild({ family, child }: Awaited<ReturnType<typeof aSuspendedParent>>, on?: Engine) {
  family.passTime(HOUR_MS)
  await family.receive({ executionId: child.id, wakes: true }, on)
}

/** Ends the parent without its children, as a process that dies after that. */
function endAlone({ engine }: Family, parent: Execution) {
  const finishedAt = new Date(engine.system.now()).toISOString()
  return engine.executions.end({ ...parent, error: CANCELLED, finishedAt })
}

describe('a parent whose sub-agent waits', () => {
  it('is suspended with it, and resumed once with its result, with no step repeated', async () => {
    const setup = await aSuspendedParent()
    const { family, parent, child, requests } = setup
    const waiting = await family.read(parent)
    const { suspension } = waiting
    expect(waiting).toMatchObject({ status: 'IN_PROGRESS', lease: null, attempts: 1 })
    expect(suspension?.waits).toEqual([
      { kind: 'execution', name: 'sleeper', since: expect.any(String), until: null, id: child.id, step: 1 },
    ])
    expect(child.suspension?.waits).toMatchObject([{ kind: 'sleep', name: 'nap' }])
    expect(await listedOf(family)).toEqual({ open: 0, timers: 2 })
    const { organizationId } = parent
    const { executions } = family.engine
    expect(await executions.countOpen({ organizationId, max: 1 })).toBe(0)
    expect(await executions.countSuspended({ organizationId, max: 1 })).toBe(2)

    await wakeChild(setup)
    expect(await family.read(child)).toMatchObject({ status: 'SUCCESS', output: { answer: 'Slept 1' } })
    expect(family.sent()).toMatchObject([{ executionId: parent.id, wakes: true }])
    const message = { executionId: parent.id, wakes: true }
    await Promise.all([family.deliver(), family.receive(message), family.receive(message)])
    const ended = await family.read(parent)
    expect(ended).toMatchObject({ status: 'SUCCESS', attempts: 2, steps: 2 })
    expect(ended.waitedMs).toBeGreaterThanOrEqual(HOUR_MS)
    expect(requests).toHaveLength(2)
    expect(shownTo(requests)).toContain('Slept 1')
    const steps = await family.engine.steps.read({ executionId: child.id })
    expect(steps.map(({ step }) => step.number)).toEqual([1, 2, 3])
    expect(await listedOf(family)).toEqual({ open: 0, timers: 0 })
  })

  it('waits through several levels, and counts what each has used once', async () => {
    const usage = { inputTokens: 100, outputTokens: 10 }
    const { family, parent, grandchild, requests } = await threeLevels({ usage })
    expect(await listedOf(family)).toEqual({ open: 0, timers: 3 })
    family.passTime(HOUR_MS)
    await family.sweep()
    expect(family.sent()).toMatchObject([{ executionId: grandchild.id, wakes: true }])
    expect(await family.deliver()).toBe(3)
    const used = { inputTokens: 200, outputTokens: 20 }
    const ended = { status: 'SUCCESS', usage: used, childUsage: used }
    expect(await family.read(parent)).toMatchObject(ended)
    expect(requests.map(({ length }) => length)).toEqual([2, 2])
    expect(await listedOf(family)).toEqual({ open: 0, timers: 0 })
  })

  it('answers a synchronous call when it is suspended, and is continued by a worker', async () => {
    const family = newFamily()
    await family.codeAgent('sleeper')
    const { version } = await family.modelAgent('boss', asksOnce([ask('sleeper')]), ['sleeper'])
    const request = { version, input: { question: 'Why?' }, tenantId: null, options: runOptions() }
    const answered = await runInProcess(family.engine, request)
    expect(answered).toMatchObject({ status: 'IN_PROGRESS', suspension: { waits: [{ kind: 'execution' }] } })
    family.passTime(HOUR_MS)
    await family.sweep()
    await family.deliver()
    expect(await family.read(answered)).toMatchObject({ status: 'SUCCESS', attempts: 2 })
  })

  it('executes its other calls first, and waits until each child has ended', async () => {
    const { family, parent, children, requests } = await aSuspendedParent({
      slugs: ['one', 'two'],
      calls: [{ id: 'c3', name: 'look_up', input: { id: 'x' } }],
      tools: ['one', 'two', httpTool(server, 'look_up', '/things/{id}')],
    })
    const steps = () => family.engine.steps.read({ executionId: parent.id })
    const stored = async () => [...((await steps())[0]?.results.keys() ?? [])]
    expect(await stored()).toEqual(['c3'])
    expect((await family.read(parent)).suspension?.waits).toHaveLength(2)

    const [first, second] = children as [Execution, Execution]
    family.passTime(HOUR_MS)
    await family.receive({ executionId: first.id, wakes: true })
    await family.deliver()
    expect((await family.read(parent)).suspension?.waits).toMatchObject([{ id: second.id }])
    expect(await stored()).toHaveLength(2)
    await family.receive({ executionId: second.id, wakes: true })
    await family.deliver()
    expect(await family.read(parent)).toMatchObject({ status: 'SUCCESS', attempts: 3 })
    expect(requests).toHaveLength(2)
    expect(server.calls.filter(({ key }) => key.includes(parent.id))).toHaveLength(1)
  })

  it('gets the results of children that end at the same moment', async () => {
    const { family, parent, children, requests } = await aSuspendedParent({ slugs: ['one', 'two'] })
    family.passTime(HOUR_MS)
    await Promise.all(children.map(({ id }) => family.receive({ executionId: id, wakes: true })))
    const [first, second] = family.sent().splice(0)
    expect([first, second]).toMatchObject([{ executionId: parent.id }, { executionId: parent.id }])
    await Promise.all([first, second].map((message) => message && family.receive(message)))
    await family.deliver()
    expect(await family.read(parent)).toMatchObject({ status: 'SUCCESS', attempts: 2 })
    expect(requests).toHaveLength(2)
  })

  it('does not wait in vain for a child that ends before it is suspended', async () => {
    const { family, parent } = await aSuspendedParent({
      body: `await context.sleep('nap', 1); return { answer: 'Slept' }`,
      // The child's timer is faster than its parent.
      async beforeSuspension(family, parent, { id }) {
        if (id !== parent.id) return
        family.passTime(2_000)
        await family.deliver()
        expect(await family.childrenOf(parent)).toMatchObject([{ status: 'SUCCESS' }])
      },
    })
    expect((await family.read(parent)).suspension).not.toBeNull()
    await family.deliver()
    expect(await family.read(parent)).toMatchObject({ status: 'SUCCESS', attempts: 2 })
  })

  it('runs on if its child is cancelled', async () => {
    const { family, parent, child, requests } = await aSuspendedParent()
    expect(await cancelExecution(family.engine, referenceTo(child))).toMatchObject({ error: CANCELLED })
    expect(await family.deliver()).toBe(1)
    expect(await family.read(parent)).toMatchObject({ status: 'SUCCESS', attempts: 2 })
    expect(shownTo(requests)).toContain('cancelled')
  })

  it.each(['DeadlineExceeded', 'WaitLimitExceeded'])('runs on if its child ends with %s', async (code) => {
    const body = `await context.sleep('nap', 3600); await context.sleep('again', 3600); return { answer: 'x' }`
    const setup = await aSuspendedParent({ body })
    const { family, parent, child } = setup
    if (code === 'WaitLimitExceeded') await wakeChild(setup, { ...family.engine, maxWaitMs: HOUR_MS })
    else {
      family.passTime(25 * HOUR_MS)
      await family.sweep()
    }
    expect((await family.read(child)).error?.code).toBe(code)
    await family.deliver()
    expect(await family.read(parent)).toMatchObject({ status: 'SUCCESS' })
  })

  it('has no timeout meanwhile: neither its own nor that of its tool runs', async () => {
    const execution = { useCache: false, cacheTtlSeconds: null, maxAgentSteps: 9, timeoutSeconds: 60 }
    const tools = [{ name: 'sleeper', agent: 'sleeper', timeoutSeconds: 5 }]
    const { family, parent } = await aSuspendedParent({ tools, overrides: { execution } })
    family.passTime(HOUR_MS)
    await family.sweep()
    await family.deliver()
    const ended = await family.read(parent)
    expect(ended).toMatchObject({ status: 'SUCCESS' })
    expect(ended.deadlineAt - parent.deadlineAt).toBeGreaterThan(0.99 * HOUR_MS)
  })
})

describe('the end of a parent that is suspended', () => {
  it('ends its children and theirs at once, and its deletion leaves nothing', async () => {
    const { family, parent, child, grandchild } = await threeLevels()
    await cancelExecution(family.engine, referenceTo(parent))
    for (const execution of [parent, child, grandchild])
      expect(await family.read(execution)).toMatchObject({ status: 'ERROR', error: CANCELLED })
    expect([await listedOf(family), family.sent()]).toEqual([{ open: 0, timers: 0 }, []])
    await deleteExecution(family.engine, referenceTo(parent))
    await family.expireEvents()
    expect(await itemsOf(family)).toEqual([])
  })

  it('ends them at its deadline, and when it may wait no longer', async () => {
    const late = await threeLevels()
    late.family.passTime(31 * 24 * HOUR_MS)
    // Its own timer comes last: the others have been told, but no worker has had time.
    await late.family.sweep()
    late.family.dropMessages()
    late.family.passTime(30 * 24 * HOUR_MS)
    await late.family.sweep()
    for (const execution of [late.parent, late.child, late.grandchild])
      expect((await late.family.read(execution)).status).toBe('ERROR')

    const { family, parent, grandchild } = await threeLevels()
    family.passTime(30 * 24 * HOUR_MS)
    await family.receive({ executionId: parent.id, wakes: true }, { ...family.engine, maxWaitMs: HOUR_MS })
    expect(await family.read(parent)).toMatchObject({ error: { code: 'WaitLimitExceeded' } })
    expect(await family.read(grandchild)).toMatchObject({ error: CANCELLED })
  })

  it('ends a child that is suspended after its parent has ended', async () => {
    const { family, child } = await aSuspendedParent({ beforeSuspension: endAlone })
    expect(child).toMatchObject({ status: 'ERROR', error: CANCELLED })
    expect(await listedOf(family)).toEqual({ open: 0, timers: 0 })
  })

  it('ends them if it fails with other calls in progress', async () => {
    const execution = { useCache: false, cacheTtlSeconds: null, maxAgentSteps: 9, timeoutSeconds: 1 }
    const slow = await startToolServer(() => undefined)
    const { family, parent } = await aSuspendedParent({
      calls: [{ name: 'look_up', input: { id: 'x' } }],
      tools: ['sleeper', httpTool(slow, 'look_up', '/things/{id}')],
      overrides: { execution },
    })
    await slow.stop()
    expect(await family.read(parent)).toMatchObject({ error: { code: 'TimedOut' } })
    expect(await family.childrenOf(parent)).toMatchObject([{ status: 'ERROR', error: CANCELLED }])
    expect(await listedOf(family)).toEqual({ open: 0, timers: 0 })
  })
})

describe('the deletion of a child', () => {
  it('is refused until its parent has been resumed with its result', async () => {
    const setup = await aSuspendedParent()
    const { family, parent, child } = setup
    await wakeChild(setup)
    const remove = () => deleteExecution(family.engine, referenceTo(child))
    await expect(remove()).rejects.toThrow(ExecutionInProgress)
    await family.deliver()
    expect((await family.read(parent)).status).toBe('SUCCESS')
    await remove()
    expect(await family.engine.executions.get(child)).toBeNull()
  })

  it('is permitted once its parent has ended, although the sweeper has not seen that', async () => {
    const setup = await aSuspendedParent()
    const { family, parent, child } = setup
    await wakeChild(setup)
    await endAlone(family, parent)
    expect(await listedOf(family)).toEqual({ open: 1, timers: 0 })
    await deleteExecution(family.engine, referenceTo(child))
    expect(await family.engine.executions.get(child)).toBeNull()
  })
})
