import { afterAll, describe, expect, it } from 'vitest'
import { UNLIMITED } from '../../../lib/core/access.ts'
import { Unavailable } from '../../../lib/core/errors.ts'
import type { Feedback } from '../../../lib/core/execution.ts'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import type { DeclarationStore } from '../../../lib/core/ports/caches.ts'
import type { ReplaySource } from '../../../lib/core/trial.ts'
import { giveFeedback } from '../../../lib/engine/learning/feedback.ts'
import { keepDeclarations } from '../../../lib/engine/replay/declarations.ts'
import { openApprovals } from '../../../lib/engine/waiting/approvals.ts'
import { decideApproval } from '../../../lib/engine/waiting/decide-approval.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { executionOf, runOptions } from '../../support/engine/executions.ts'
import { aModelAgent, finalAnswer, httpTool, startToolServer } from '../../support/engine/model-agent.ts'
import { aMessage, answer, startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { answersIn, messageOf, pastExecutions } from '../../support/learning/corrections.ts'
import { contentOf, originalsOn, readRun, replayOf, runReplay } from '../../support/replay/a-replay.ts'
import type { RecordedRequest } from '../../support/scripted-model/recorded-request.ts'
import { serveMcp } from '../../tools/kinds/mcp-server.ts'

const scripted = await startScriptedEngine()

describe('keepDeclarations', () => {
  const { engine, runScript } = scripted
  const DAY = 86_400_000
  const served = { crm: [{ name: 'crm_find', description: 'Finds.', inputSchema: { type: 'object' } }] }

  /** A store that counts its writes, of which the first ones fail. */
  function countingStore(failures = 0) {
    const puts: Parameters<DeclarationStore['put']>[0][] = []
    const store: DeclarationStore = {
      async put(params) {
        puts.push(params)
        if (puts.length <= failures) throw new Unavailable(new Error('not now'))
      },
      get: () => Promise.reject(new Error('A run reads no declarations.')),
    }
    const keep = (now: number, declarations = served, organizationId = 'org') => {
      const clock = { ...engine.system, now: () => now }
      return keepDeclarations({ declarations: store, system: clock }, organizationId, declarations)
    }
    return { puts, keep }
  }

  it('writes them once a day, for each organization and hash', async () => {
    const { puts, keep } = countingStore()
    const hashes = await Promise.all([keep(5 * DAY), keep(5 * DAY), keep(6 * DAY - 1)])
    expect(new Set(hashes).size).toBe(1)
    expect(puts).toHaveLength(1)
    await keep(6 * DAY)
    await keep(6 * DAY + 1)
    expect(puts).toHaveLength(2)
    await keep(6 * DAY, served, 'other')
    expect(await keep(6 * DAY, { crm: [] })).not.toBe(hashes[0])
    expect(puts).toHaveLength(4)
  })

  it('does not fail, and repeats a write that failed with the next run', async () => {
    const { puts, keep } = countingStore(1)
    const hash = await keep(DAY)
    expect(hash).toBe(await keep(DAY))
    expect(await keep(DAY)).toBe(hash)
    expect(puts).toHaveLength(2)
  })

  it('keeps nothing for a run without MCP tools', async () => {
    const unused = () => Promise.reject(new Error('There are none.'))
    const none = { declarations: { put: unused, get: unused }, system: engine.system }
    expect(await keepDeclarations(none, 'org', undefined)).toBeUndefined()
  })

  it('leaves the hash of stored declarations in the requests of a run with MCP tools', async () => {
    const server = await serveMcp()
    const mcp = { url: server.url, allowedHosts: [server.host] }
    const tools = [{ name: 'crm', approval: true, mcp }]
    const version = await aModelAgent({ tools })
    const { steps, execution } = await runScript([answer], { version })
    const [first] = steps
    const hash = first?.step.kind === 'MODEL' ? first.step.request?.declarations : undefined
    const { organizationId } = execution
    const stored = await engine.declarations.get({ organizationId, hash: String(hash) })
    expect(Object.keys(stored ?? {})).toEqual(['crm'])
    expect(stored?.crm?.map(({ name }) => name)).toContain('crm_find_customer')
    expect(stored?.crm?.[0]).not.toHaveProperty('approval')
  })
})

describe('a trial', () => {
  const { engine } = scripted
  const { anOriginal, aDraft } = originalsOn(scripted)

  const liked = { rating: 1 as const, correctedOutput: null, note: null }
  const corrected = { ...liked, correctedOutput: { answer: 'Corrected.' } }

  /** What `answer` has. */
  const answerOfDraft = 'Because.'

  it.each([
    ['that nobody rated', null],
    ['that somebody liked', liked],
    ['that somebody corrected', corrected],
  ])('%s teaches nobody', async (_, given: Omit<Feedback, 'updatedAt'> | null) => {
    const { original, version } = await anOriginal([answer])
    const { draft } = await aDraft(version, [answer])
    const { execution } = await runReplay(engine, original, draft)
    expect(execution).toMatchObject({ status: 'SUCCESS', source: 'TRIAL' })
    await engine.executions.delete({ ...original, now: Date.now() })
    const { id, organizationId, agentId, tenantId } = execution
    if (given) {
      const params = { organizationId, id, feedback: given, isReview: true }
      expect(await giveFeedback(engine, params)).toMatchObject({ feedback: given })
    }
    const scope = { organizationId, agentId, tenantId, teachers: 'all' as const }
    expect(await engine.executions.listLessons({ ...scope, limit: 10 })).toEqual([])
    expect(await engine.executions.listExamples({ ...scope, limit: 10 })).toEqual([])
    expect(await engine.executions.getExamples({ ...scope, ids: [id] })).toEqual([])
  })

  it.each([
    ['CHANGED', [false], undefined],
    ['CORRECTED', [true], undefined],
    ['CORRECTED', [true, false], undefined],
    ['CORRECTED', [false], { feedback: 'all' as const }],
  ])(
    'is %s by the feedback of a reviewer (%j), unless the document trusts all: %j',
    async (verdict, reviews, learning) => {
      const { original, version } = await anOriginal([{ calls: [finalAnswer({ answer: 'Wrong.' })] }])
      for (const isReview of reviews) {
        const answered = isReview || reviews.length === 1 ? answerOfDraft : 'Wrong.'
        const feedback = { ...liked, correctedOutput: { answer: answered } }
        await giveFeedback(engine, { ...original, feedback, isReview })
      }
      const { draft } = await aDraft(version, [answer], { ...(learning && { learning }) })
      const { execution } = await runReplay(engine, original, draft)
      expect(execution.judgement?.verdict).toBe(verdict)
    },
  )

  it('is shown no examples if its original was not', async () => {
    const { original, version } = await anOriginal([answer])
    const { past } = pastExecutions(engine.executions)
    await past(version, { question: 'Why?', feedback: { correctedOutput: { answer: 'Later.' } } })
    const { draft, requests } = await aDraft(version, [answer])
    const options = runOptions({ useDynamicLearning: true })
    const { execution } = await runReplay(engine, original, draft, { options })
    expect(execution).toMatchObject({ status: 'SUCCESS', learnedFrom: null })
    expect(answersIn(messageOf(requests[0]))).toEqual([])
  })

  it('neither reads nor writes a cache entry', async () => {
    const { original, version } = await anOriginal([answer])
    const cache = { key: `key-${original.id}`, ttlSeconds: null }
    expect(executionOf(version, { cache }).cache).toEqual(cache)
    expect(executionOf(version, { cache, replay: replayOf(original) }).cache).toBeNull()
    const isTrial = false
    expect(executionOf(version, { cache, replay: replayOf(original, { isTrial }) }).cache).toEqual(cache)
  })
})

describe('calls that needed an approval', async () => {
  const { engine } = scripted
  const server = await startToolServer((path, response) => void response.end(JSON.stringify({ path })))
  afterAll(() => server.stop())

  const asking = (more: object = {}) => [
    httpTool(server, 'order', '/orders/{id}', { approval: true, ...more }),
  ]
  const { anOriginal, aDraft } = originalsOn(scripted, { tools: asking() })
  const order = (id: string) => ({ name: 'order', input: { id } })
  const script = [{ calls: [order('a')] }, answer]

  type Decided = { decision: 'approve' | 'reject'; input?: JsonObject | null; note?: string | null }

  /** An original whose call somebody has decided on. */
  async function aDecided({ decision, input = null, note = null }: Decided) {
    const { version, requests, original: waiting } = await anOriginal(script)
    const { id, organizationId } = waiting
    const [approval] = await openApprovals(engine, waiting)
    const access = { ...UNLIMITED, organizationId, tokenId: organizationId }
    const deciding = { executionId: id, approvalId: approval?.id ?? '', decision, input, note }
    await decideApproval(engine, { access, ...deciding })
    const { message, ...received } = aMessage()
    await processMessage(engine, id, { ...received, message: { ...message, wakes: true } })
    const { execution: original, steps } = await readRun(engine, waiting)
    expect(original.status).toBe('SUCCESS')
    return { original, version, steps, requests }
  }

  /** What the model was told last, without the id of the call. */
  function lastMessage(requests: RecordedRequest[]): unknown {
    const { messages } = { messages: [], ...requests.at(-1)?.body } as { messages: JsonObject[] }
    return messages.at(-1)?.content
  }

  const decisions: [string, Decided][] = [
    ['approved', { decision: 'approve' }],
    ['approved with a note', { decision: 'approve', note: 'Only once.' }],
    ['changed', { decision: 'approve', input: { id: 'b' } }],
    ['rejected', { decision: 'reject', note: 'Too much.' }],
  ]
  it.each(decisions)('are not asked for again, and are shown as they were: %s', async (_, decided) => {
    const { original, version, steps, requests } = await aDecided(decided)
    const calls = server.calls.length
    const offline = { ...engine, environment: {} }
    const settings = { models: 'recorded' as const }
    const recorded = await runReplay(offline, original, version, { settings })
    expect(recorded.execution).toMatchObject({ status: 'SUCCESS', waitedMs: 0, attempts: 1 })
    expect(contentOf(recorded.steps)).toEqual(contentOf(steps))
    // Also those of a model that is asked again, whose calls have other ids.
    const versions: [object[], ReplaySource][] = [
      [asking(), 'recorded'],
      [[httpTool(server, 'order', '/orders/{id}')], 'recorded'],
      [asking({ readOnly: true }), 'live'],
    ]
    for (const [tools, source] of versions) {
      const { draft, requests: sent } = await aDraft(version, script, { tools })
      const settings = { tools: { default: source } }
      const { execution } = await runReplay(engine, original, draft, { settings })
      expect(execution).toMatchObject({ status: 'SUCCESS', waitedMs: 0, attempts: 1 })
      expect(lastMessage(sent)).toEqual(lastMessage(requests))
    }
    expect(server.calls).toHaveLength(calls)
  })

  it('for the first time have the result of the original', async () => {
    const tools = [httpTool(server, 'order', '/orders/{id}')]
    const { original, version, steps } = await anOriginal(script, { tools })
    const calls = server.calls.length
    for (const source of ['recorded', 'live'] as const) {
      const { draft } = await aDraft(version, script, { tools: asking({ readOnly: true }) })
      const settings = { tools: { default: source } }
      const { execution, steps: replayed } = await runReplay(engine, original, draft, { settings })
      expect(execution).toMatchObject({ status: 'SUCCESS', waitedMs: 0 })
      expect(contentOf(replayed)[0]?.results).toEqual(contentOf(steps)[0]?.results)
    }
    // The model does not see which calls need one.
    const { model } = original
    for (const tools of [asking(), asking({ readOnly: true })]) {
      const { draft } = await aDraft(version, [], { tools, model })
      const settings = { models: 'recorded' as const, tools: { default: 'live' as const } }
      const { execution } = await runReplay({ ...engine, environment: {} }, original, draft, { settings })
      expect(execution).toMatchObject({ status: 'SUCCESS', replayedUsage: original.usage })
    }
    expect(server.calls).toHaveLength(calls)
  })

  it('are not executed if the original did not make them, although their tool is live', async () => {
    const { original, version } = await aDecided({ decision: 'approve' })
    const tools = asking({ readOnly: true })
    const { draft } = await aDraft(version, [{ calls: [order('new')] }, answer], { tools })
    const calls = server.calls.length
    const settings = { tools: { default: 'live' as const } }
    const { execution } = await runReplay(engine, original, draft, { settings })
    expect(execution.error).toMatchObject({ code: 'Diverged', tool: 'order', input: { id: 'new' } })
    expect(server.calls).toHaveLength(calls)
  })

  it('end the run if nobody had decided', async () => {
    const { version, original } = await anOriginal(script)
    const { draft } = await aDraft(version, script)
    const { execution } = await runReplay(engine, original, draft)
    const error = { code: 'Diverged', tool: 'order' }
    expect(execution).toMatchObject({ status: 'ERROR', error, waitedMs: 0 })
  })
})
