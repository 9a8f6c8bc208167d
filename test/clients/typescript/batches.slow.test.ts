import { describe, expect, it } from 'vitest'
import type { BatchResult, Client } from '../../../clients/typescript/src/index.ts'
import { collect } from '../../support/data/collect.ts'
import { type Answer, batchAnswers, hang, results, SOON, scriptedService } from './scripted-service.ts'

const { created, running, ended } = batchAnswers('b1')

const result = (customId: string | number, text = 'ü') =>
  `${JSON.stringify({ customId: String(customId), executionId: null, status: 'SUCCESS', output: { text }, error: null })}\n`
const resultsOf = (...customIds: (string | number)[]) => customIds.map((id) => result(id)).join('')

const idsFrom = (first: number, count: number) => Array.from({ length: count }, (_, n) => first + n)
const idsOf = (all: BatchResult[]) => all.map(({ customId }) => customId)
const inputs = (count: number) => Array.from({ length: count }, (_, n) => ({ n }))
const readIds = async (client: Client, count: number, options = {}) =>
  idsOf(await collect(client.batch('echo', inputs(count), options)))

describe('batch', () => {
  it('reads inputs only as far as it needs them, in batches of 10,000', async () => {
    const batch = (id: string, count: number, first: number) => [
      created(count, { id }),
      ended(count, { id }),
      results(resultsOf(...idsFrom(first, count))),
    ]
    const { client, requests } = await scriptedService([...batch('b1', 10_000, 0), ...batch('b2', 1, 10_000)])
    let read = 0
    async function* many() {
      for (; read < 10_001; read++) yield { n: read }
    }
    const run = client.batch('echo', many(), { idempotencyKey: 'k' })
    const all = [(await run.next()).value?.customId]
    expect([read, run.ids]).toEqual([10_000, ['b1']])
    for await (const { customId } of run) all.push(customId)
    expect(all).toEqual(Array.from({ length: 10_001 }, (_, n) => String(n)))
    expect(run.ids).toEqual(['b1', 'b2'])
    const keys = requests.map(({ headers }) => headers['idempotency-key']).filter(Boolean)
    expect(keys).toEqual(['k', 'k-10000'])
  })

  it('keeps each batch below the size of a request, after it is escaped', async () => {
    const batch = (count: number, first: number) => [
      created(count),
      ended(count),
      results(resultsOf(...idsFrom(first, count))),
    ]
    const { client, requests } = await scriptedService([...batch(2, 0), ...batch(1, 2), ...batch(1, 3)])
    // Quotation marks are two bytes after they are escaped once, and four after twice.
    const texts = ['"'.repeat(700_000), 'ü'.repeat(1_400_000), '"'.repeat(100_000), 'x'.repeat(6_500_000)]
    const items = texts.map((text) => ({ text }))
    const run = client.batch('echo', items)
    expect(idsOf(await collect(run))).toEqual(['0', '1', '2', '3'])
    const sizes = requests
      .filter(({ body }) => body)
      .map(({ body }) => Buffer.byteLength(JSON.stringify(body)))
    expect(sizes.filter((size) => size < 6_000_000)).toHaveLength(2)
  })

  it('spends its cost limit on all batches together', async () => {
    const batch = (costUsd: number, first: number) => [
      created(10_000),
      ended(10_000, { costUsd }),
      results(resultsOf(...idsFrom(first, 10_000))),
    ]
    const { client, requests } = await scriptedService([...batch(0.75, 0), ...batch(0.25, 10_000)])
    const all = await collect(client.batch('echo', inputs(20_001), { maxBatchCostUsd: 1 }))
    expect(requests.flatMap(({ path }) => path.match(/maxBatchCostUsd=(.*)/)?.[1] ?? [])).toEqual([
      '1',
      '0.25',
    ])
    expect(all).toHaveLength(20_001)
    const rest = { customId: '20000', status: 'ERROR', error: { code: 'BudgetExceeded' } }
    expect(all.at(-1)).toMatchObject(rest)
  })
})

describe('a batch whose reader goes away', () => {
  it.each<[string, Answer[]]>([
    ['it starts', [hang]],
    ['it runs', [created(1), hang]],
    ['its results arrive', [created(1), ended(1), results('', 'stay')]],
  ])('ends with the reason of the signal while %s', async (_, answers) => {
    const { client, requests } = await scriptedService(answers)
    const controller = new AbortController()
    const reading = readIds(client, 1, { signal: controller.signal })
    reading.catch(() => undefined)
    await expect.poll(() => requests.length, SOON).toBe(answers.length)
    controller.abort(new Error('enough'))
    await expect(reading).rejects.toThrow('enough')
    expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(1)
  })

  it('ends with the reason of the signal while it waits for an input', async () => {
    const { client } = await scriptedService([])
    const controller = new AbortController()
    async function* never() {
      controller.abort(new Error('enough'))
      await new Promise(() => undefined)
      yield {}
    }
    await expect(collect(client.batch('echo', never(), { signal: controller.signal }))).rejects.toThrow(
      'enough',
    )
  })
})

describe('batchResults', () => {
  it('reads what is known of an open batch', async () => {
    const line = `${JSON.stringify({ customId: 'b', executionId: null, status: 'IN_PROGRESS', output: null, error: null })}\n`
    const { client } = await scriptedService([running(2), results(`${result('a')}\n${line}`)])
    const all = await collect(client.batchResults('b1'))
    expect(all.map(({ status }) => status)).toEqual(['SUCCESS', 'IN_PROGRESS'])
  })
})
