import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Version } from '../../../lib/core/agent.ts'
import type { Feedback } from '../../../lib/core/execution.ts'
import { CANCELLED, type Execution, failure, NO_USAGE } from '../../../lib/core/execution.ts'
import type { JsonObject } from '../../../lib/core/json.ts'
import { executionStore } from '../../../lib/dynamodb/execution-store.ts'
import { executionKey } from '../../../lib/dynamodb/keys.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { runInProcess } from '../../../lib/engine/submit/submit.ts'
import { system } from '../../../lib/system.ts'
import { engineOn } from '../../support/engine.ts'
import { anExecution, leased } from '../../support/executions.ts'
import { aModelAgent, finalAnswer } from '../../support/model-agent.ts'
import { sharedTable } from '../../support/organization.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { runInChildProcess } from '../../support/run-in-process.ts'
import { type ScriptedModel, startScriptedModel } from '../../support/scripted-model/start-scripted-model.ts'

const QUESTION = 'When will my parcel arrive?'
const table = sharedTable()
const executions = executionStore(table)
let scripted: ScriptedModel
let engine: Engine

beforeAll(async () => {
  scripted = await startScriptedModel()
  engine = {
    ...engineOn(table),
    environment: scripted.environmentFor(),
  }
})
afterAll(() => scripted.stop())

type Past = {
  question?: string
  answer?: string | null
  output?: JsonObject
  feedback?: Partial<Feedback>
  tenantId?: string | null
  cached?: boolean
}

/** Something that a version has done before: `answer: null` for a run that ended in ERROR. */
async function past(version: Version, given: Past = {}): Promise<Execution> {
  const { question = QUESTION, answer = 'Tomorrow.', feedback, tenantId = null, cached = false } = given
  const { organizationId, agentId, id: versionId } = version
  const lease = { owner: 'past', expiresAt: Date.now() + 60_000 }
  const accepted = anExecution({ organizationId, agentId, versionId, tenantId, input: { question }, lease })
  const execution = { ...accepted, cached }
  await executions.create({ execution })
  const output = given.output ?? { answer }
  const common = { steps: 1, usage: NO_USAGE, model: 'a/b' }
  const outcome =
    answer === null
      ? failure({ code: 'AgentFailed', message: '' })
      : { status: 'SUCCESS' as const, output, ...common }
  await executions.finish({
    execution: leased(execution, 'past'),
    outcome,
    finishedAt: new Date().toISOString(),
  })
  if (feedback) await rate(execution, feedback)
  return execution
}

async function rate({ organizationId, id }: Execution, given: Partial<Feedback>): Promise<void> {
  const updatedAt = new Date().toISOString()
  const feedback: Feedback = { rating: -1, correctedOutput: null, note: null, ...given, updatedAt }
  await executions.giveFeedback({ organizationId, id, feedback, writer: system.newId() })
}

type Asking = { question?: string; tenantId?: string | null; learns?: boolean; model?: string | null }

const optionsOf = ({ learns = true, model = null }: Asking) => ({
  maxAgentSteps: 100,
  model,
  useDynamicLearning: learns,
})

/** The examples in what a model was told, as it reads them. */
function examplesIn(instructions: string | undefined): { input: JsonObject; output: JsonObject }[] {
  const [, list] = /<examples>\n([\s\S]*)\n<\/examples>/.exec(instructions ?? '') ?? []
  return (list ?? '').split('\n').flatMap((line) => (line === '' ? [] : JSON.parse(line)))
}

const answersIn = (instructions: string | undefined) =>
  examplesIn(instructions).map(({ output }) => output.answer)

/** Runs the version on a model that answers at once. */
async function run(version: Version, asking: Asking = {}) {
  const { question = QUESTION, tenantId = null } = asking
  const name = system.newId()
  scripted.script(name, [{ calls: [finalAnswer({ answer: `Of ${name}.` })] }])
  const model = scripted.modelFor('openai-compatible', name)
  const options = optionsOf({ ...asking, model })
  const execution = await runInProcess(engine, { version, input: { question }, tenantId, options })
  scripted.assertDone(name)
  expect(execution.status).toBe('SUCCESS')
  expect(await executions.get(execution)).toMatchObject({ learnedFrom: execution.learnedFrom })
  const [request] = scripted.requests(name)
  return { execution, instructions: request?.instructions, body: JSON.stringify(request?.body) }
}

describe('a run that learns', () => {
  it('shows its model the past that is like it, behind the instructions, and keeps the ids', async () => {
    const version = await aModelAgent()
    const like = await past(version, { question: 'When does the parcel arrive?', answer: 'On Monday.' })
    await past(version, { question: 'Do you sell gift vouchers?', answer: 'Yes.' })
    const { execution, instructions } = await run(version)
    expect(examplesIn(instructions)).toEqual([{ input: like.input, output: { answer: 'On Monday.' } }])
    expect(execution.learnedFrom).toEqual([like.id])
    expect(instructions?.indexOf('Answer the question.')).toBeLessThan(
      instructions?.indexOf('<examples>') ?? -1,
    )
  })

  it('learns from what it has just done itself', async () => {
    const version = await aModelAgent()
    const first = await run(version)
    expect([first.execution.learnedFrom, answersIn(first.instructions)]).toEqual([[], []])
    const second = await run(version)
    expect(second.execution.learnedFrom).toEqual([first.execution.id])
    expect(answersIn(second.instructions)).toEqual([first.execution.output?.answer])
  })

  it('is told of corrections first, in the place of what was wrong, also where the run had failed', async () => {
    const version = await aModelAgent()
    await past(version, { question: 'When will your parcel arrive?', answer: 'Plain.' })
    await past(version, {
      question: 'When will his parcel arrive?',
      answer: 'Liked.',
      feedback: { rating: 1 },
    })
    const correctedOutput = { answer: 'Corrected.' }
    const corrected = { question: 'When will her parcel arrive?', feedback: { correctedOutput } }
    await past(version, { ...corrected, answer: 'Wrong.' })
    expect(answersIn((await run(version)).instructions)).toEqual(['Corrected.', 'Liked.', 'Plain.'])

    const other = await aModelAgent()
    await past(other, { ...corrected, answer: null })
    expect(answersIn((await run(other)).instructions)).toEqual(['Corrected.'])
  })

  const excluded: [string, Past][] = [
    ['rated bad', { feedback: { rating: -1 } }],
    ['a copy from the cache', { cached: true }],
    ['failed', { answer: null }],
    ['failed and rated', { answer: null, feedback: { rating: 1 } }],
    ['of another form than the current version gives', { output: { text: 'Tomorrow.' } }],
    ['of another tenant', { tenantId: 'acme' }],
    ['too large', { answer: 'x'.repeat(9_000) }],
    ['far too large', { answer: 'x'.repeat(100_000) }],
  ]
  it.each(excluded)('is not shown what is %s', async (_, given) => {
    const version = await aModelAgent()
    await past(version, given)
    const { execution, instructions } = await run(version)
    expect(instructions).not.toContain('<examples>')
    expect(execution.learnedFrom).toEqual([])
  })

  it('learns from what earlier versions did, where it fits', async () => {
    const old = await aModelAgent()
    const fits = await past(old, { question: 'When will a parcel arrive?' })
    await past(old, { output: { answer: 'Tomorrow.', extra: 1 } })
    const current = await aModelAgent({ organizationId: old.organizationId, instructions: 'Anew.' })
    expect((await run(current)).execution.learnedFrom).toEqual([fits.id])
  })

  it('does so for a tenant from that tenant alone', async () => {
    const version = await aModelAgent()
    for (const tenantId of [null, 'a', 'b']) await past(version, { tenantId, answer: `Of ${tenantId}.` })
    for (const tenantId of [null, 'a', 'b']) {
      const { instructions } = await run(version, { tenantId })
      expect(answersIn(instructions)).toEqual([`Of ${tenantId}.`])
    }
  })
})

describe('a run that is cancelled while it chooses', () => {
  it('asks no model, and keeps no ids', async () => {
    const version = await aModelAgent()
    await past(version)
    const name = system.newId()
    scripted.script(name, [])
    const cancelling = {
      ...executions,
      listExamples: async (params: Parameters<typeof executions.listExamples>[0]) => {
        const found = await executions.listExamples(params)
        const { organizationId } = params
        const page = { ...params, status: null, tenantId: null, limit: 1, after: null }
        const [running] = (await executions.list(page)).items
        const finishedAt = new Date().toISOString()
        await executions.end({ organizationId, id: running?.id ?? '', error: CANCELLED, finishedAt })
        return found
      },
    }
    const options = optionsOf({ model: scripted.modelFor('openai-compatible', name) })
    const execution = await runInProcess(
      { ...engine, executions: cancelling },
      { version, input: { question: QUESTION }, tenantId: null, options },
    )
    expect(execution).toMatchObject({ status: 'ERROR', error: CANCELLED, learnedFrom: null })
    expect(scripted.requests(name)).toEqual([])
  })
})

describe('a run that does not learn', () => {
  it('shows its model nothing of the past', async () => {
    const version = await aModelAgent()
    await past(version, { answer: 'From the past.' })
    const { execution, body } = await run(version, { learns: false })
    expect(body).not.toContain('From the past.')
    expect(execution.learnedFrom).toBeNull()
  })

  it('is one of a code agent, whatever was asked', async () => {
    const code = "export default () => ({ answer: 'Computed.' })"
    const version = await aModelAgent({ code: true }, code)
    await past(version)
    const input = { question: QUESTION }
    const options = optionsOf({ learns: true })
    const execution = await runInProcess(engine, { version, input, tenantId: null, options })
    expect(execution).toMatchObject({ status: 'SUCCESS', learnedFrom: null })
  })
})

describe('what belongs to others', () => {
  it('is in no request to a model, of however many tenants, agents and organizations', async () => {
    const place = fc.record({
      organization: fc.integer({ min: 0, max: 2 }),
      agent: fc.integer({ min: 0, max: 1 }),
      tenantId: fc.constantFrom(null, 'a', 'b', 'A', 'a ', 'null', 'undefined', '#a'),
      rating: fc.constantFrom(1 as const, null),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(place, { minLength: 5, maxLength: 12 }), async (places) => {
        const organizations = [system.newId(), system.newId(), system.newId()]
        const versions = await Promise.all(
          organizations.map((organizationId) =>
            Promise.all(['one', 'two'].map((slug) => aModelAgent({ organizationId, slug }))),
          ),
        )
        const versionAt = ({ organization, agent }: (typeof places)[number]) =>
          versions[organization]?.[agent] as Version
        const markOf = ({ organization, agent, tenantId }: (typeof places)[number]) =>
          `mark-${organization}-${agent}-${tenantId}-end`
        for (const at of places) {
          const { tenantId, rating } = at
          const feedback = rating && { rating, correctedOutput: { answer: markOf(at) }, note: 'For people.' }
          await past(versionAt(at), { tenantId, answer: markOf(at), ...(feedback && { feedback }) })
        }
        const asking = new Map(places.slice(0, 4).map((at) => [markOf(at), at]))
        for (const [mark, at] of asking) {
          const { body } = await run(versionAt(at), { tenantId: at.tenantId })
          const marks = new Set(body.match(/mark-.*?-end/g))
          expect([...marks]).toEqual([mark])
          expect(body).not.toContain('For people.')
        }
      }),
      { numRuns: propertyRuns(6) },
    )
  })
})

describe('a run that is killed', () => {
  /** An execution that waits for its worker; `asked` is what its model was told, request by request. */
  async function waiting(version: Version) {
    const name = system.newId()
    scripted.script(name, ({ history }) =>
      history.length > 1 ? { calls: [finalAnswer({ answer: 'Done.' })] } : { text: 'Hm.' },
    )
    const { organizationId, agentId, id: versionId } = version
    const execution = anExecution({
      organizationId,
      agentId,
      versionId,
      input: { question: QUESTION },
      options: optionsOf({ model: scripted.modelFor('openai-compatible', name) }),
    })
    await executions.create({ execution })
    const asked = () => scripted.requests(name).map(({ instructions }) => answersIn(instructions))
    return { execution, asked }
  }
  const runFor = ({ id }: Execution, writes: number) =>
    runInChildProcess(id, writes, scripted.environmentFor())
  const resume = async (execution: Execution) => {
    await table.update(executionKey(execution.id), { set: { leaseExpiresAt: Date.now() - 1 } })
    expect((await runFor(execution, 0)).report.result).toBe('processed')
    expect(await executions.get(execution)).toMatchObject({ status: 'SUCCESS', steps: 2 })
  }
  const better = { feedback: { rating: 1 as const, correctedOutput: { answer: 'Better.' } } }

  /** Claim, the examples' ids, then the first step's renewal and the step itself. */
  const kills: [when: string, writes: number, askedBefore: number][] = [
    ['between choosing and asking', 2, 0],
    ['between asking and storing', 3, 1],
    ['after its first step', 4, 1],
  ]
  it.each(kills)('%s shows the same examples again, whatever came in between', async (_, writes, before) => {
    const version = await aModelAgent()
    const first = await past(version, { answer: 'First.' })
    const { execution, asked } = await waiting(version)
    expect((await runFor(execution, writes)).signal).toBe('SIGKILL')
    expect(asked()).toHaveLength(before)
    expect((await executions.get(execution))?.learnedFrom).toEqual([first.id])
    await past(version, better)
    await rate(first, { rating: -1 })
    await resume(execution)
    expect(asked().length).toBeGreaterThan(before)
    for (const answers of asked()) expect(answers).toEqual(['First.'])
    expect((await executions.get(execution))?.learnedFrom).toEqual([first.id])
  })

  it('with no example shows none afterwards either', async () => {
    const version = await aModelAgent()
    const { execution, asked } = await waiting(version)
    await runFor(execution, 2)
    await past(version, better)
    await resume(execution)
    expect(asked()).toEqual([[], []])
  })

  it('after a step that was taken before there was learning is shown nothing', async () => {
    const version = await aModelAgent()
    await past(version, { answer: 'First.' })
    const { execution, asked } = await waiting(version)
    await runFor(execution, 4)
    await table.update(executionKey(execution.id), { remove: ['learnedFrom'] })
    await resume(execution)
    expect(asked()).toEqual([['First.'], []])
  })

  it('before it has chosen chooses anew', async () => {
    const version = await aModelAgent()
    const { execution, asked } = await waiting(version)
    await runFor(execution, 1)
    await past(version, better)
    await resume(execution)
    expect(asked()).toEqual([['Better.'], ['Better.']])
  })

  it('leaves out an example that was deleted meanwhile', async () => {
    const version = await aModelAgent()
    const kept = await past(version, { question: 'When will his parcel arrive?', answer: 'Kept.' })
    const gone = await past(version, { answer: 'Gone.' })
    const { execution, asked } = await waiting(version)
    await runFor(execution, 2)
    expect((await executions.get(execution))?.learnedFrom).toEqual([gone.id, kept.id])
    expect(await executions.delete(gone)).toBe('deleted')
    await resume(execution)
    expect(asked()).toEqual([['Kept.'], ['Kept.']])
  })
})
