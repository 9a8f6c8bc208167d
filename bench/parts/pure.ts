import { Bench } from 'tinybench'
import { cacheKeyOf } from '../../lib/core/cache-key.ts'
import type { JsonObject } from '../../lib/core/json.ts'
import { compileAdapter } from '../../lib/schema/adapt/adapt-input.ts'
import { withSpread } from '../format.ts'
import type { Context, Finding, Part } from '../part.ts'
import { type Spread, spreadOf } from '../statistics.ts'

const KILOBYTES = [1, 10, 100]
const FULL = { rounds: 5, time: 400 }
const QUICK = { rounds: 2, time: 60 }
const AGENT_ID = '0d3c6b3e-8a53-4c1e-9c2b-5a1f0e6d7c48'

/** An order with many lines: objects, lists, texts and numbers, as inputs have them. */
const SCHEMA: JsonObject = {
  customer: { type: 'string', description: 'Who has ordered.' },
  lines: {
    type: 'array',
    description: 'What was ordered.',
    items: {
      type: 'object',
      properties: {
        productId: { type: 'string' },
        quantity: { type: 'integer' },
        isGift: { type: 'boolean' },
        status: { type: 'string', enum: ['open', 'shipped', 'returned'] },
      },
    },
  },
}

/** What of a run needs no database: microseconds for each kB of its input. */
export const pure: Part = { letter: 'e', title: 'adaptation and cache key', run }

async function run({ quick, say }: Context): Promise<Finding> {
  const { rounds, time } = quick ? QUICK : FULL
  const adapt = compileAdapter(SCHEMA)
  const cases = KILOBYTES.flatMap((size) => {
    const fitting = order(size, 'fitting')
    const unfit = order(size, 'unfit')
    return [
      { work: 'adaptation, input that fits', input: fitting, act: () => adapt(fitting) },
      { work: 'adaptation, names and types to change', input: unfit, act: () => adapt(unfit) },
      { work: 'cache key', input: fitting, act: () => keyOf(fitting) },
    ].map((one) => ({ ...one, size, name: `${one.work} of ${size} kB`, perKilobyte: [] as number[] }))
  })
  for (let round = 0; round < rounds; round++) {
    say(`round ${round + 1} of ${rounds}`)
    const bench = new Bench({ time, warmupTime: time / 2, throws: true })
    for (const { name, act } of cases) bench.add(name, () => void act())
    await bench.run()
    for (const { name, input, perKilobyte } of cases) {
      const result = bench.getTask(name)?.result
      if (result?.state !== 'completed') throw new Error(`${name} was not measured.`)
      perKilobyte.push((result.latency.p50 * 1000) / (JSON.stringify(input).length / 1000))
    }
  }
  const figures: Record<string, Spread> = {}
  const rows = cases.map(({ work, size, name, perKilobyte }) => {
    const spread = spreadOf(perKilobyte)
    figures[`${name}, µs per kB`] = spread
    return {
      work,
      'input kB': size,
      'p50 µs per kB': withSpread(spread),
    }
  })
  return { tables: [{ title: 'What of a run needs no database', rows }], figures }
}

/** About so many kilobytes of JSON. The unfit one is written in another case, with numbers and flags as texts. */
function order(kilobytes: number, kind: 'fitting' | 'unfit'): JsonObject {
  const line = (number: number): JsonObject =>
    kind === 'fitting'
      ? { productId: `product-${number}`, quantity: number % 10, isGift: number % 2 === 0, status: 'open' }
      : { product_id: `product-${number}`, quantity: `${number % 10}`, is_gift: 'true', status: 'Open' }
  const lines: JsonObject[] = []
  for (let bytes = 50; bytes < kilobytes * 1000; bytes += JSON.stringify(lines.at(-1)).length + 1) {
    lines.push(line(lines.length))
  }
  return { customer: 'Ada Lovelace', lines }
}

function keyOf(input: JsonObject): string | null {
  return cacheKeyOf({
    agentId: AGENT_ID,
    versionId: AGENT_ID,
    tenantId: null,
    input,
    model: null,
    useDynamicLearning: false,
  })
}
