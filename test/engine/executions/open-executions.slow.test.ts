import { describe, expect, it } from 'vitest'
import { Unavailable } from '../../../lib/core/errors.ts'
import type { ExecutionSummary } from '../../../lib/core/execution.ts'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import { DEADLINE_MS } from '../../../lib/core/limits.ts'
import type { OpenPage, OpenPosition } from '../../../lib/core/ports/executions.ts'
import {
  ENDED_BY_OPERATOR,
  endOpen,
  type OpenFilter,
  readOpen,
  resumeOpen,
} from '../../../lib/engine/executions/open-executions.ts'
import { sweep } from '../../../lib/engine/maintenance.ts'
import { newSentTimers, sweepTimers } from '../../../lib/engine/waiting/sweep-timers.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { system } from '../../../lib/system.ts'
import { engineOn, NO_DELIVERIES } from '../../support/engine/engine-on.ts'
import { executionOf, modelStep, NO_PROGRESS, toolCall } from '../../support/engine/executions.ts'
import { aModelAgent } from '../../support/engine/model-agent.ts'
import { aMessage } from '../../support/engine/scripted-engine.ts'
import { ownTable } from '../../support/tables/memory-table.ts'

const table = await ownTable()
const engine = engineOn(table)

type Overrides = Parameters<typeof executionOf>[1]

async function open(overrides: Overrides = {}, version = aModelAgent({}, { table })) {
  const execution = executionOf(await version, overrides)
  await engine.executions.create({ execution })
  return execution
}

async function summariesOf(filter: OpenFilter, on = engine): Promise<ExecutionSummary[]> {
  const pages: ExecutionSummary[] = []
  for await (const page of readOpen(on, filter)) pages.push(...page)
  return pages
}

const summaryOf = async ({ id }: { id: string }) => {
  const [summary] = await summariesOf({ ids: new Set([id]) })
  if (!summary) throw new Error('It is not listed.')
  return summary
}

const sortedIds = (executions: { id: string }[]) => executions.map(({ id }) => id).sort()

/** A worker takes it for a minute. */
async function claim({ id }: { id: string }, now = Date.now()) {
  const lease = { owner: system.newId(), expiresAt: now + 60_000 }
  const execution = await engine.executions.claim({ id, lease, now })
  if (typeof execution === 'string') throw new Error(execution)
  return { execution, owner: lease.owner }
}

const end = async (execution: { id: string }, isForced = false) =>
  endOpen(engine, await summaryOf(execution), { isForced })

describe('readOpen', () => {
  it('finds every open execution once, on more pages than one, and no other', async () => {
    const version = aModelAgent({}, { table })
    const created = await Promise.all(Array.from({ length: 250 }, () => open({}, version)))
    const { agentId } = await version
    const [first] = created
    await end(first as never)
    const found = await summariesOf({ agent: agentId })
    expect(sortedIds(found)).toEqual(sortedIds(created.slice(1)))
  })

  it('filters by organization, slug, age and whether the agent has tools or code', async () => {
    const plain = await open()
    const withTools = await open({}, aModelAgent({ tools: [HTTP_TOOL] }, { table }))
    const code = await open({}, aModelAgent({ code: true }, { table, code: 'export default () => ({})' }))
    const orphan = await open({ versionId: system.newId() })
    const old = await open({ now: Date.now() - 7_200_000 })
    const mine = new Set([plain, withTools, code, orphan, old].map(({ id }) => id))
    const idsOf = async (filter: OpenFilter) => sortedIds(await summariesOf({ ids: mine, ...filter }))
    expect(await idsOf({ hasTools: true })).toEqual(sortedIds([withTools, code, orphan]))
    expect(await idsOf({ hasTools: false })).toEqual(sortedIds([plain, old]))
    expect(await idsOf({ createdBefore: Date.now() - 3_600_000 })).toEqual(sortedIds([old]))
    expect(await idsOf({ organizationId: plain.organizationId })).toEqual([plain.id])
    expect(await idsOf({ agent: 'model-agent' })).toEqual(sortedIds([plain, withTools, code, orphan, old]))
    expect(await idsOf({ agent: 'another' })).toEqual([])
  })

  it('continues at the same page when the table throttles', async () => {
    const { id } = await open()
    let failures = 3
    const listOpen: typeof engine.executions.listOpen = async (params) => {
      if (failures-- > 0) throw new Unavailable(new Error('Throttled.'))
      return engine.executions.listOpen(params)
    }
    const throttled = { ...engine, executions: { ...engine.executions, listOpen } }
    expect(await summariesOf({ ids: new Set([id]) }, throttled)).toHaveLength(1)
  })
})

describe('endOpen', () => {
  it('ends an execution with what its steps have used, and keeps its journal', async () => {
    const execution = await open()
    const { owner } = await claim(execution, Date.now() - 60_001)
    const usage = { inputTokens: 7, outputTokens: 5 }
    const step = modelStep({ calls: [toolCall('a')], usage })
    const progress = { ...NO_PROGRESS, steps: 1, usage }
    await engine.steps.append({ executionId: execution.id, owner, step, progress })
    expect(await end(execution)).toBe('done')
    expect(await engine.executions.get(execution)).toMatchObject({
      status: 'ERROR',
      error: ENDED_BY_OPERATOR,
      steps: 1,
      usage,
      lease: null,
      openUntil: null,
    })
    expect(await engine.steps.read({ executionId: execution.id })).toMatchObject([{ step: { number: 1 } }])
    expect(await processMessage(engine, execution.id)).toBe('closed')
  })

  it('leaves an execution with a live lease to its worker, unless it is forced', async () => {
    const execution = await open()
    const { execution: leased, owner } = await claim(execution)
    const append = (number: number) => {
      const step = modelStep({ number })
      return engine.steps.append({ executionId: execution.id, owner, step, progress: NO_PROGRESS })
    }
    expect(await end(execution)).toBe('running')
    expect(await append(1)).toBe(true)
    expect(await end(execution, true)).toBe('done')
    expect(await append(2)).toBe(false)
    const outcome = { status: 'SUCCESS' as const, output: {}, ...NO_PROGRESS }
    const finishing = { execution: leased, outcome, finishedAt: new Date().toISOString() }
    expect(await engine.executions.finish(finishing)).toBeNull()
  })

  it('changes nothing that ended or was deleted after it was listed', async () => {
    const [ended, deleted] = [await open(), await open()]
    const summaries = [await summaryOf(ended), await summaryOf(deleted)]
    const finishedAt = new Date().toISOString()
    const error = { code: 'TimedOut', message: 'Before.' }
    for (const { id, organizationId } of [ended, deleted])
      await engine.executions.end({ organizationId, id, error, finishedAt })
    await engine.executions.delete({ ...deleted, now: Date.now() })
    for (const summary of summaries)
      expect(await endOpen(engine, summary, { isForced: false })).toBe('closed')
    expect(await engine.executions.get(ended)).toMatchObject({ error, finishedAt })
    expect(await engine.executions.get(deleted)).toBeNull()
  })

  it('counts an execution that a repeated request has ended', async () => {
    const execution = await open()
    const summary = await summaryOf(execution)
    await endOpen(engine, summary, { isForced: false })
    expect(await endOpen(engine, summary, { isForced: false })).toBe('done')
  })
})

describe('resumeOpen', () => {
  it('lets the next sweep enqueue an execution past its deadline, which runs', async () => {
    const accepted = Date.now() - 2 * DEADLINE_MS
    const execution = await open({ now: accepted, deadlineMs: DEADLINE_MS })
    expect(await resumeOpen(engine, await summaryOf(execution))).toBe('done')
    const { sent, queue } = aMessage()
    await sweep({ ...engine, queue, times: leaseTimes() })
    expect(sent).toContainEqual(expect.objectContaining({ executionId: execution.id }))
    const { deadlineAt } = await summaryOf(execution)
    expect(deadlineAt).toBeGreaterThan(Date.now() + DEADLINE_MS / 2)
  })

  it('lets a suspended execution whose time was long ago be resumed by the next sweep', async () => {
    const created = await open({ now: Date.now() - 3 * DEADLINE_MS, deadlineMs: DEADLINE_MS })
    const { execution, owner } = await claim(created)
    const until = Date.now() - 2 * DEADLINE_MS
    const waits = [{ kind: 'sleep' as const, name: 'nap', since: '', until: '' }]
    const suspension = { at: until - 1, until, waits }
    const deadlineAt = until + DEADLINE_MS
    await engine.executions.suspend({ execution, owner, suspension, openUntil: until, deadlineAt })
    expect(await resumeOpen(engine, await summaryOf(created))).toBe('done')
    const { sent, queue } = aMessage()
    await sweepTimers({
      ...engine,
      queue: { ...queue, sendBatch: async (messages) => void sent.push(...(messages as typeof sent)) },
      ...NO_DELIVERIES,
      times: leaseTimes(),
      sent: newSentTimers(),
    })
    expect(sent).toContainEqual(expect.objectContaining({ executionId: created.id, wakes: true }))
    expect(await summaryOf(created)).toMatchObject({ suspension })
  })

  it('moves no execution to a page that a reader has not read yet', async () => {
    const now = Date.now() - 3_600_000
    const version = aModelAgent({}, { table })
    const created = await Promise.all(Array.from({ length: 20 }, () => open({ now }, version)))
    const ids = new Set(created.map(({ id }) => id))
    const met: string[] = []
    let after: OpenPosition | null = null
    do {
      const page: OpenPage = await engine.executions.listOpen({ limit: 1, after })
      for (const each of page.items.filter(({ id }) => ids.has(id))) {
        expect(met).not.toContain(each.id)
        met.push(each.id)
        expect(await resumeOpen(engine, each)).toBe('done')
      }
      after = page.next
    } while (after)
    expect(met).toHaveLength(ids.size)
  })

  it('leaves an execution with a live lease, and one that has ended', async () => {
    const [leased, ended] = [await open(), await open()]
    const summaries = [await summaryOf(leased), await summaryOf(ended)] as const
    const { owner } = await claim(leased)
    await end(ended)
    expect(await resumeOpen(engine, summaries[0])).toBe('running')
    expect(await engine.executions.isLeasedBy({ id: leased.id, owner })).toBe(true)
    await engine.executions.delete({ ...ended, now: Date.now() })
    expect(await resumeOpen(engine, summaries[1])).toBe('closed')
  })
})

const HTTP_TOOL = {
  name: 'pay',
  description: 'Pays.',
  input: {},
  http: { method: 'POST', url: 'https://pay.example/', allowedHosts: ['pay.example'] },
}
