import { beforeAll, describe, expect, it, vi } from 'vitest'
import { findCorrected } from '../../../authoring/cases/corrected-cases.ts'
import { type Access, UNLIMITED } from '../../../lib/core/access.ts'
import type { Agent, Version } from '../../../lib/core/agent.ts'
import { type ExecutionSummary, failure, type Outcome } from '../../../lib/core/execution.ts'
import { CANCELLED } from '../../../lib/core/execution-errors.ts'
import { firstIdAt } from '../../../lib/core/ids.ts'
import { cachedExecution } from '../../../lib/core/new-execution.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import { MAX_LOOKED_AT } from '../../../lib/engine/trials/select-originals.ts'
import { startTrial, type TrialRequest } from '../../../lib/engine/trials/start-trial.ts'
import { system } from '../../../lib/system.ts'
import { success } from '../../support/batches/batch-run.ts'
import { executionOf, leased } from '../../support/engine/executions.ts'
import { aModelAgent } from '../../support/engine/model-agent.ts'
import { replayOf } from '../../support/replay/a-replay.ts'
import { memoryTable } from '../../support/tables/memory-table.ts'

const table = memoryTable()
const queue = { feed: async () => undefined }
const stores = { ...openStores(table), queue, system }
const { batches, executions } = stores
beforeAll(() => {
  vi.stubEnv('MODEL_PRICES', '{"openai-compatible/*": {"input": 10, "output": 10}}')
  vi.stubEnv('DEFAULT_MODEL', 'openai-compatible/any')
  vi.stubEnv('OPENAI_COMPATIBLE_BASE_URL', 'http://127.0.0.1:1')
})

const REQUEST: TrialRequest = {
  ...{ from: null, to: null, tenantId: null, feedback: null, limit: null, executions: null },
  ...{ tools: { default: 'recorded' }, models: 'live', steps: 'recorded', ignore: [] },
  ...{ maxTrialCostUsd: 1, maxConcurrency: undefined },
}

const accessOf = ({ organizationId }: Version, limits: Partial<Access> = {}): Access => ({
  ...{ ...UNLIMITED, organizationId, tokenId: system.newId() },
  ...limits,
})

type Options = { key?: string; access?: Access; on?: typeof stores }
const start = (version: Version, request: Partial<TrialRequest> = {}, options: Options = {}) =>
  startTrial(options.on ?? stores, {
    access: options.access ?? accessOf(version),
    idOrSlug: version.slug,
    versionId: version.id,
    request: { ...REQUEST, ...request },
    idempotencyKey: options.key,
  })

async function linesOf({ organizationId, id }: { organizationId: string; id: string }): Promise<string[]> {
  const batch = await batches.get({ organizationId, id })
  if (!batch) throw new Error('There is no trial.')
  const blocks = batch.blocks.map((_, block) => batches.readBlock({ batch, block }))
  const lines = (await Promise.all(blocks)).flat().map(({ customId }) => customId)
  expect(lines.length).toBe(batch.lines)
  return lines
}

/** The request is rejected with these; none if it is accepted. */
const errorsOf = (version: Version, request: Partial<TrialRequest> = {}) =>
  start(version, request).then(
    () => [],
    ({ errors }) => errors,
  )

const selected = async (version: Version, request: Partial<TrialRequest> = {}) =>
  linesOf(await start(version, request))

let time = Date.now() - 1_000_000
type Ending = Parameters<typeof executionOf>[1] & { outcome?: Outcome }
/** A final execution, later than those before it. */
async function anOriginal(version: Version, { outcome, ...overrides }: Ending = {}): Promise<string> {
  time += 1_000
  const lease = { owner: system.newId(), expiresAt: Date.now() + 60_000 }
  const id = `${firstIdAt(time).slice(0, 13)}${system.newId().slice(13)}`
  const execution = leased(executionOf(version, { id, now: time, ...overrides, lease }), lease.owner)
  await executions.create({ execution })
  const given = outcome ?? ({ ...success(0.01), steps: 1 } as Outcome)
  await executions.finish({ execution, outcome: given, finishedAt: new Date(time).toISOString() })
  return id
}

/** The end of a run of one step that failed. */
const failedBy = (code: string) => ({ ...failure({ code, message: '' }), steps: 1 }) as Outcome

const rate = (version: Version, id: string, correctedOutput: { answer: string } | null, isReview = true) =>
  executions.giveFeedback({
    isReview,
    organizationId: version.organizationId,
    id,
    feedback: { rating: 1, correctedOutput, note: null, updatedAt: new Date().toISOString() },
    writer: system.newId(),
  })

describe('the originals of a trial', () => {
  it('are the newest final executions that can be repeated, newest first', async () => {
    const version = await aModelAgent({}, { table })
    const first = await anOriginal(version)
    const failed = await anOriginal(version, { outcome: failedBy('AgentFailed') })
    await anOriginal(version, { outcome: success() })
    await anOriginal(version, { outcome: failedBy(CANCELLED.code) })
    await anOriginal(version, { isDraft: true })
    await anOriginal(version, { parent: { executionId: first, callers: ['boss'] } })
    await anOriginal(version, { replay: replayOf({ id: first }) })
    await anOriginal(version, {
      scored: { executionId: first, trial: { id: first, maxCostUsd: 1 } },
      parent: { executionId: first, callers: [] },
    })
    await executions.create({ execution: executionOf(version, { now: time + 1 }) })
    const copy = { ...executionOf(version), now: time + 2, deadlineMs: 1 }
    await executions.create({ execution: cachedExecution(copy, first, { answer: 'a' }) })
    const rerun = await anOriginal(version, { replay: replayOf({ id: first }, { isTrial: false }) })
    expect(await selected(version)).toEqual([rerun, failed, first])
    expect(await selected(version, { limit: 2 })).toEqual([rerun, failed])
  })

  it('are those of a time, a tenant, or with feedback', async () => {
    const version = await aModelAgent({}, { table })
    const old = await anOriginal(version)
    const from = new Date(time + 500).toISOString()
    const acme = await anOriginal(version, { tenantId: 'acme' })
    const corrected = await anOriginal(version)
    const to = new Date(time + 500).toISOString()
    const liked = await anOriginal(version)
    await rate(version, corrected, { answer: 'x'.repeat(50_000) })
    await rate(version, liked, null)
    expect(await selected(version, { from })).toEqual([liked, corrected, acme])
    expect(await selected(version, { from, to })).toEqual([corrected, acme])
    expect(await selected(version, { to: from })).toEqual([old])
    expect(await selected(version, { tenantId: 'acme' })).toEqual([acme])
    expect(await selected(version, { feedback: 'rated' })).toEqual([liked, corrected])
    expect(await selected(version, { feedback: 'corrected' })).toEqual([corrected])
    expect(await selected(version, { executions: [old, liked, old] })).toEqual([old, liked])
  })

  it('have the feedback of reviewers, also under later feedback of clients, unless all feedback teaches', async () => {
    const version = await aModelAgent({}, { table })
    const reviewed = await anOriginal(version)
    const replaced = await anOriginal(version)
    const own = await anOriginal(version)
    await rate(version, reviewed, { answer: 'right' })
    await rate(version, replaced, { answer: 'right' })
    await rate(version, replaced, null, false)
    await rate(version, own, { answer: 'wrong' }, false)
    const { organizationId } = version
    const trusting = await aModelAgent({ organizationId, learning: { feedback: 'all' } }, { table })
    for (const feedback of ['corrected', 'rated'] as const)
      expect(await selected(version, { feedback })).toEqual([replaced, reviewed])
    expect(await selected(trusting, { feedback: 'corrected' })).toEqual([own, reviewed])
    expect(await selected(trusting, { feedback: 'rated' })).toEqual([own, replaced, reviewed])
    const agent = (current: Version) => ({ ...current, id: version.agentId, current }) as unknown as Agent
    const correctionsOf = async (current: Version) =>
      (await findCorrected(stores, agent(current), 10)).map(({ id, feedback }) => [
        id,
        feedback?.correctedOutput?.answer,
      ])
    expect(Object.fromEntries(await correctionsOf(version))).toEqual({
      [replaced]: 'right',
      [reviewed]: 'right',
    })
    expect(Object.fromEntries(await correctionsOf(trusting))).toEqual({ [own]: 'wrong', [reviewed]: 'right' })
  })

  it('have not timed out, unless the request names them', async () => {
    const version = await aModelAgent({}, { table })
    const first = await anOriginal(version)
    const late: string[] = []
    for (const code of ['TimedOut', 'DeadlineExceeded', 'WaitLimitExceeded'])
      late.push(await anOriginal(version, { outcome: failedBy(code) }))
    expect(await selected(version)).toEqual([first])
    expect(await selected(version, { executions: late })).toEqual(late)
    await executions.delete({ organizationId: version.organizationId, id: first, now: Date.now() })
    await expect(start(version)).rejects.toThrow('can be repeated (timed out: 3).')
  })

  it('are of code agents also without steps', async () => {
    const version = await aModelAgent({ code: true }, { table, code: 'export default () => ({})' })
    const id = await anOriginal(version, { outcome: success() })
    expect(await selected(version, { maxTrialCostUsd: null })).toEqual([id])
  })

  it('are found behind thousands of lines of other trials', async () => {
    const version = await aModelAgent({}, { table })
    const id = await anOriginal(version)
    const replay = replayOf({ id })
    const trialId = system.newId()
    for (let line = 0; line < 300; line++) {
      const batch = { id: trialId, customId: id, line, lane: 0 }
      await executions.create({ execution: executionOf(version, { replay, batch }) })
    }
    const listSummaries = vi.fn(executions.listSummaries)
    const trial = await start(
      version,
      {},
      { on: { ...stores, executions: { ...executions, listSummaries } } },
    )
    expect(await linesOf(trial)).toEqual([id])
    const pages = await Promise.all(listSummaries.mock.results.map(({ value }) => value))
    expect(pages.flatMap(({ items }) => items)).toMatchObject([{ id }])
  })

  it('are looked for among a limited number of executions, and said to be cut then', async () => {
    const version = await aModelAgent({}, { table })
    const running = executionOf(version)
    let pages = 0
    let items: ExecutionSummary[] = [running]
    const listSummaries = async () => {
      pages++
      const page = [...items, ...Array.from({ length: 100 - items.length }, () => running)]
      items = []
      return { items: page, next: { order: running.id } }
    }
    const on = { ...stores, executions: { ...executions, listSummaries } }
    await expect(start(version, {}, { on })).rejects.toThrow(
      `None of the ${MAX_LOOKED_AT} newest executions can be repeated (in progress: ${MAX_LOOKED_AT}). Older ones were not looked at: narrow the time with from and to.`,
    )
    expect(pages).toBe(MAX_LOOKED_AT / 100)
    const id = await anOriginal(version)
    const original = await executions.getSummary({ organizationId: version.organizationId, id })
    if (!original) throw new Error('There is no original.')
    items = [original]
    const { trial, lines } = await start(version, {}, { on })
    expect([lines, trial?.isCut]).toEqual([1, true])
    items = [original]
    expect((await start(version, { limit: 1 }, { on })).trial).not.toHaveProperty('isCut')
    expect((await start(version)).trial).not.toHaveProperty('isCut')
  })

  it('are said to be missing if there are none', async () => {
    const version = await aModelAgent({}, { table })
    await expect(start(version)).rejects.toMatchObject({
      code: 'InputSchemaMismatch',
      message: 'The agent has no executions.',
    })
    await anOriginal(version, { isDraft: true })
    await anOriginal(version, { outcome: success() })
    await expect(start(version)).rejects.toThrow(
      'None of the 2 newest executions can be repeated (without steps: 1, of a draft: 1).',
    )
    const from = '2026-01-01T00:00:00Z'
    const to = '2126-01-01T00:00:00Z'
    const tenantId = 'acme'
    const none = 'The agent has no executions'
    const missing: [Partial<TrialRequest>, string][] = [
      [{ tenantId }, `${none} of the tenant acme.`],
      [{ to: from }, `${none} before ${from}.`],
      [{ tenantId, from, to }, `${none} of the tenant acme since ${from} and before ${to}.`],
      [{ from }, `None of the 2 newest executions since ${from} can be repeated`],
    ]
    for (const [filter, message] of missing) await expect(start(version, filter)).rejects.toThrow(message)
    const reserved = await start(version, {}, { key: 'none' }).catch(() => null)
    expect(reserved).toBeNull()
    const id = await anOriginal(version)
    expect(await linesOf(await start(version, {}, { key: 'none' }))).toEqual([id])
  })

  it('that are named must be executions of the agent that can be repeated', async () => {
    const version = await aModelAgent({}, { table })
    const { organizationId } = version
    const other = await aModelAgent({ organizationId, slug: 'other' }, { table })
    const stranger = await aModelAgent({}, { table })
    const ids = [
      await anOriginal(version),
      await anOriginal(other),
      await anOriginal(stranger),
      await anOriginal(version, { isDraft: true }),
    ]
    const unknown = (index: number) => ({
      path: `/executions/${index}`,
      message: `/executions/${index} is not an execution of the agent.`,
    })
    const draft = { path: '/executions/3', message: '/executions/3 cannot be repeated: it is of a draft.' }
    const errors = await errorsOf(version, { executions: [...ids, system.newId()] })
    expect(errors).toMatchObject([unknown(1), unknown(2), draft, unknown(4)])
  })

  it('are of the organization and the agents of the token', async () => {
    const version = await aModelAgent({}, { table })
    await anOriginal(version)
    const others = accessOf(await aModelAgent({}, { table }))
    await expect(start(version, {}, { access: others })).rejects.toMatchObject({ code: 'VersionNotFound' })
    const bound = accessOf(version, { agents: ['other'] })
    await expect(start(version, {}, { access: bound })).rejects.toMatchObject({ code: 'AgentNotFound' })
  })
})

describe('a request for a trial', () => {
  it('may call only tools that change nothing, and no agents', async () => {
    const http = { method: 'GET', url: 'https://a.example' }
    const tool = { description: 'x', input: {}, http }
    const tools = [
      { ...tool, name: 'look', readOnly: true },
      { ...tool, name: 'change' },
      { name: 'ask', agent: 'helper' },
    ]
    const version = await aModelAgent({ tools }, { table })
    const id = await anOriginal(version)
    const pathsOf = async (sources: TrialRequest['tools']) =>
      (await errorsOf(version, { tools: sources })).map(({ path }: { path: string }) => path)
    expect(await pathsOf({ default: 'recorded', look: 'live' })).toEqual([])
    expect(await pathsOf({ default: 'live', change: 'recorded' })).toEqual([])
    expect(await pathsOf({ default: 'live' })).toEqual(['/tools/default'])
    expect(await pathsOf({ default: 'recorded', change: 'live', ask: 'live', none: 'recorded' })).toEqual([
      '/tools/none',
      '/tools/change',
      '/tools/ask',
    ])
    expect(await selected(version, { tools: { default: 'recorded', look: 'live' } })).toEqual([id])
  })

  it.each(['constructor', 'toString', 'valueOf'])(
    'knows that a tool named %s changes something',
    async (name) => {
      const http = { method: 'GET', url: 'https://a.example' }
      const version = await aModelAgent({ tools: [{ description: 'x', input: {}, http, name }] }, { table })
      await anOriginal(version)
      expect(await errorsOf(version, { tools: { default: 'live' } })).toMatchObject([
        { path: '/tools/default' },
      ])
    },
  )

  it('names what it may cost unless nothing is called', async () => {
    const version = await aModelAgent({}, { table })
    await anOriginal(version)
    const path = '/maxTrialCostUsd'
    const request = { models: 'recorded' as const, maxTrialCostUsd: null }
    expect(await errorsOf(version, { maxTrialCostUsd: null })).toMatchObject([
      { path, message: `${path} is required, because the trial calls models.` },
    ])
    expect((await start(version, request)).maxCostUsd).toBeNull()
    const unpriced = await aModelAgent({ model: 'bedrock/without.a-price' }, { table })
    const message =
      'The model bedrock/without.a-price has no price, so a run with it cannot have a limit in US dollars (maxTrialCostUsd). Set its price in MODEL_PRICES.'
    expect(await errorsOf(unpriced)).toMatchObject([{ path, message }])
    await anOriginal(unpriced)
    expect((await start(unpriced, request)).maxCostUsd).toBeNull()
    expect((await start(unpriced, { ...request, maxTrialCostUsd: 1 })).maxCostUsd).toBe(1)
    const code = await aModelAgent({ code: true, slug: 'code' }, { table, code: 'export default () => ({})' })
    const refused = expect.stringContaining('does not accept maxTrialCostUsd')
    expect(await errorsOf(code)).toMatchObject([{ path, message: refused }])
  })

  it('has the scorers of the current version and those of its own, and limits what their models may cost', async () => {
    const organizationId = system.newId()
    const of = (slug: string, overrides: Parameters<typeof aModelAgent>[0] = {}, code?: string) =>
      aModelAgent({ organizationId, slug, ...overrides }, { table, ...(code && { code }) })
    await of('faithful')
    await of('length', { code: true }, 'export default () => ({ score: 1 })')
    const current = await of('agent', { scorers: [{ agent: 'length', tolerance: 0 }] })
    const draft = await of('agent', {
      status: 'DRAFT',
      scorers: [{ agent: 'length', tolerance: 1 }, { agent: 'faithful' }, { agent: 'missing' }],
    })
    await anOriginal(current)
    expect((await start(draft)).trial?.scorers).toEqual([
      { agent: 'length', tolerance: 0 },
      { agent: 'faithful', tolerance: 0.1 },
      { agent: 'missing', tolerance: 0.1 },
    ])
    const recorded = { models: 'recorded' as const, maxTrialCostUsd: null }
    const path = '/maxTrialCostUsd'
    expect(await errorsOf(draft, recorded)).toMatchObject([
      { path, message: `${path} is required, because the scorer faithful may call a model.` },
    ])
    // Code alone costs nothing, and a code agent may have scorers that do.
    expect((await start(current, recorded)).maxCostUsd).toBeNull()
    const code = { code: true, scorers: [{ agent: 'faithful' }] }
    const scored = await of('code', code, 'export default () => ({})')
    await anOriginal(scored)
    expect((await start(scored)).maxCostUsd).toBe(1)
    await of('faithful', { model: 'bedrock/without.a-price' })
    expect(await errorsOf(scored)).toMatchObject([{ path, message: expect.stringContaining('has no price') }])
  })

  it('does not combine executions with filters, nor an empty time', async () => {
    const version = await aModelAgent({}, { table })
    const ids = [await anOriginal(version)]
    const from = '2026-01-01T00:00:00Z'
    for (const filter of [{ from }, { tenantId: 'a' }, { feedback: 'rated' as const }, { limit: 1 }])
      expect(await errorsOf(version, { executions: ids, ...filter })).toMatchObject([{ path: '/executions' }])
    expect(await errorsOf(version, { from, to: from })).toMatchObject([{ path: '/from' }])
  })

  it('is accepted once with an idempotency key, whatever ran since', async () => {
    const version = await aModelAgent({}, { table })
    const access = accessOf(version)
    const id = await anOriginal(version)
    const first = await start(version, {}, { key: 'a', access })
    await anOriginal(version)
    const again = await start(version, {}, { key: 'a', access })
    expect(again.id).toBe(first.id)
    expect(await linesOf(again)).toEqual([id])
    await expect(start(version, { limit: 7 }, { key: 'a', access })).rejects.toMatchObject({
      code: 'IdempotencyKeyReused',
    })
  })
})
