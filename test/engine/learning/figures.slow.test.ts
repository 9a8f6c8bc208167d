import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { Version } from '../../../lib/core/agent.ts'
import type { ExecutionStore } from '../../../lib/core/ports.ts'
import { toItem } from '../../../lib/dynamodb/executions/execution-item.ts'
import { executionStore } from '../../../lib/dynamodb/executions/execution-store.ts'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { runInProcess } from '../../../lib/engine/submit/submit.ts'
import { system } from '../../../lib/system.ts'
import { LOCAL_TABLE } from '../../../local/emulators/provision.ts'
import { executionOf, runOptions } from '../../support/engine/executions.ts'
import { aModelAgent, finalAnswer } from '../../support/engine/model-agent.ts'
import { sharedTable } from '../../support/engine/organization.ts'
import { startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { CORRECTIONS, SIMILAR } from '../../support/learning/corrections.ts'
import { answersIn, messageOf, pastExecutions } from '../../support/learning/past-executions.ts'
import { meterCapacity } from '../../support/proxy/observe.ts'
import { startProxy } from '../../support/proxy/start-proxy.ts'

const OTHERS = 10_000
const table = sharedTable()
const executions = executionStore(table)
const { engine, scriptModel } = await startScriptedEngine()
const { past } = pastExecutions(executions)

const meter = meterCapacity()
let proxy: Awaited<ReturnType<typeof startProxy>>
let metered: ExecutionStore
let version: Version

beforeAll(async () => {
  proxy = await startProxy(inject('dynamodb'), meter.behavior)
  metered = executionStore(openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: proxy.url }))
  version = await aModelAgent({ instructions: INSTRUCTIONS })
  for (const [index, { question }] of CORRECTIONS.entries())
    await past(version, { question, feedback: { correctedOutput: { answer: answerOf(index) } } })
  await storeOthers()
})
afterAll(() => proxy.stop())

/** About 300 tokens, as agents that answer customers have. */
const INSTRUCTIONS = `You answer the questions of customers of a shop that sells furniture, lamps and kitchen things online.
Be friendly and short: three sentences at most, without greeting and signature. Answer in the language of the customer.
Never promise a date of delivery, a refund or a discount. If the answer depends on an order that you do not know, say
which number you need and where the customer finds it. If somebody is angry, apologize once. If a question is not about
the shop, its products, orders, payments, accounts or deliveries, say that you cannot help with it. Orders can be changed
until they are packed, which takes about two hours. Returns are free for 30 days; used things can be returned only if they
are defective. Invoices are in the account under Orders, and can be changed by the accounting department alone. Payments by
card are charged when the order is packed; refunds take five working days. Deliveries go to the countries of the European
Union, to Norway and to Switzerland. Passwords are reset by the customer; a lost second factor by the support team, after
a check of the identity. Never ask for a password, a card number or a code. Write amounts with their currency.`

const answerOf = (index: number) =>
  `Answer ${index}: please open your account, choose the order and follow the steps that are shown there.`

/** Runs that nobody rated, newer than the corrections and about the same things. */
async function storeOthers() {
  for (let done = 0; done < OTHERS; done += 500) {
    const items = await Promise.all(
      Array.from({ length: 500 }, (_, i) => {
        const { question = '' } = SIMILAR[(done + i) % SIMILAR.length] ?? {}
        const input = { question: `${question} It is about number ${done + i}.` }
        const execution = executionOf(version, { input })
        const ended = { status: 'SUCCESS' as const, output: { answer: 'Wrong.' }, openUntil: null }
        return toItem(table, { ...execution, ...ended })
      }),
    )
    await table.writeMany(items.map((put) => ({ put })))
  }
}

const answer = { calls: [finalAnswer({ answer: 'Done.' })] }

async function run(question: string, useDynamicLearning = true) {
  const { model, requests } = scriptModel([answer])
  const options = runOptions({ model, useDynamicLearning })
  const [startedAt, cpu] = [performance.now(), process.cpuUsage()]
  const request = { version, input: { question }, tenantId: null, options }
  const { error } = await runInProcess({ ...engine, executions }, request)
  const ms = performance.now() - startedAt
  const { user, system: kernel } = process.cpuUsage(cpu)
  expect(error).toBeNull()
  const [sent] = requests
  return {
    ms,
    cpuMs: (user + kernel) / 1_000,
    bytes: JSON.stringify(sent?.body).length,
    answers: answersIn(messageOf(sent)),
  }
}

type Run = Awaited<ReturnType<typeof run>>

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

/** How many of the questions are shown the right correction: as the first, and at all. */
async function countFound(questions: { question: string; of: number }[]) {
  const results = []
  for (const { question, of } of questions) {
    const { answers } = await run(question)
    results.push(answers.indexOf(answerOf(of)))
  }
  return { first: results.filter((at) => at === 0).length, shown: results.filter((at) => at >= 0).length }
}

describe(`20 corrections, and ${OTHERS} newer runs that nobody rated`, () => {
  it('change 30 of 30 similar inputs', async () => {
    const found = await countFound(SIMILAR)
    console.log(`learning: similar inputs, of 30: ${JSON.stringify(found)}`)
    expect(found.first).toBe(30)
  })

  it('change at least 11 of 20 paraphrases without embeddings', async () => {
    const asked = (name: 'paraphrase' | 'synonyms') =>
      countFound(CORRECTIONS.map((correction, of) => ({ question: correction[name], of })))
    const [paraphrases, synonyms] = [await asked('paraphrase'), await asked('synonyms')]
    console.log(
      `learning: of 20, without embeddings: paraphrases ${JSON.stringify(paraphrases)}, with hardly a word in common ${JSON.stringify(synonyms)}`,
    )
    expect(paraphrases.shown).toBeGreaterThanOrEqual(11)
  })

  it('add at most 20 ms to a run, and half of its input', async () => {
    const added: { ms: number; cpuMs: number; share: number }[] = []
    for (const { question } of SIMILAR) {
      const runs: { without: Run; learning: Run }[] = []
      for (let round = 0; round < 5; round++)
        runs.push({ without: await run(question, false), learning: await run(question) })
      // The fastest of five, and processor time: the machine does other things as well.
      const least = (name: 'ms' | 'cpuMs') =>
        Math.min(...runs.map(({ learning }) => learning[name])) -
        Math.min(...runs.map(({ without }) => without[name]))
      const [{ learning, without }] = runs as [{ without: Run; learning: Run }]
      added.push({ ms: least('ms'), cpuMs: least('cpuMs'), share: learning.bytes / without.bytes - 1 })
    }
    const [ms, cpuMs] = [median(added.map((each) => each.ms)), median(added.map((each) => each.cpuMs))]
    const share = Math.max(...added.map((each) => each.share))
    console.log(
      `learning: ${ms.toFixed(1)} ms more (${cpuMs.toFixed(1)} ms of the processor), at most ${(100 * share).toFixed(0)} % more input`,
    )
    expect(cpuMs).toBeLessThanOrEqual(20)
    expect(share).toBeLessThanOrEqual(0.5)
  })
})

describe('the read units of a run', () => {
  /** Rated executions with a vector each, and with as much text as an entry can have if they are large. */
  async function withLessons(count: number, isLarge: boolean) {
    const agent = await aModelAgent()
    const vector = Int8Array.from({ length: 1_536 }, (_, i) => (i * 31) % 127)
    const words = isLarge ? 'parcel order '.repeat(100) : 'My parcel'
    for (let done = 0; done < count; done += 50)
      await Promise.all(
        Array.from({ length: Math.min(50, count - done) }, async (_, i) => {
          const question = `${done + i} ${words} did not arrive.`
          const { organizationId, id } = await past(agent, { question })
          const feedback = {
            rating: -1 as const,
            correctedOutput: { answer: 'Right.' },
            note: null,
            updatedAt: new Date().toISOString(),
          }
          const embedding = isLarge ? { model: 'openai/text-embedding-3-small', vector } : null
          await executions.giveFeedback({ organizationId, id, feedback, embedding, writer: system.newId() })
        }),
      )
    return agent
  }

  async function unitsOf(agent: Version) {
    const { model } = scriptModel([answer])
    const units = async (useDynamicLearning: boolean) => {
      const options = runOptions({
        model: useDynamicLearning ? model : scriptModel([answer]).model,
        useDynamicLearning,
      })
      meter.take()
      const request = { version: agent, input: { question: 'My parcel?' }, tenantId: null, options }
      const { error } = await runInProcess({ ...engine, executions: metered }, request)
      expect(error).toBeNull()
      return meter.take().readUnits
    }
    return (await units(true)) - (await units(false))
  }

  it.each([
    [20, false],
    [500, false],
    [600, true],
  ])('with %i corrections (large: %j) are at most 300', async (count, isLarge) => {
    const units = await unitsOf(await withLessons(count, isLarge))
    console.log(
      `learning: ${units} read units with ${count} corrections${isLarge ? ', as large as they can be' : ''}`,
    )
    expect(units).toBeLessThanOrEqual(300)
  })

  it('of an agent that learns from unrated results, behind 10,000 of them, are at most 300', async () => {
    const agent = { ...version, learning: { unrated: true as const } }
    const units = await unitsOf(agent)
    console.log(`learning: ${units} read units with unrated results`)
    expect(units).toBeLessThanOrEqual(300)
  })
})
