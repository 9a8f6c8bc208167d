import type { Json, JsonObject } from '../../lib/core/json/json.ts'
import { parseJson } from '../../lib/core/json/parse-json.ts'
import { compileAdapter } from '../../lib/schema/adapt/adapt-input.ts'
import { interleave, toSpread } from '../harness/rounds.ts'
import { type SuiteContext, type SuiteResult, spreadRows } from '../report.ts'

const ROUNDS = { full: 11, quick: 3 }
const BYTES = 1_000_000

const optional = (type: string, more: JsonObject = {}): JsonObject => ({ type, required: false, ...more })

const SCHEMA: JsonObject = {
  orders: {
    type: 'array',
    items: {
      type: 'object',
      properties: {
        orderNumber: { type: 'string' },
        quantity: { type: 'integer' },
        unitPrice: { type: 'number' },
        description: optional('string'),
        orderDate: optional('string', { format: 'date' }),
        paid: optional('boolean'),
        status: optional('string', { enum: ['open', 'on_hold', 'closed'] }),
        customer: optional('object', { properties: { name: optional('string'), email: optional('string') } }),
        tags: optional('array', { items: { type: 'string' } }),
      },
    },
  },
}

/** One order, as different senders write it. */
const ORDERS: Record<string, (index: number) => JsonObject> = {
  'as declared': (index) => ({
    ...{ orderNumber: `A${index}`, quantity: index, unitPrice: 2.5, description: 'A pen', paid: true },
    ...{ orderDate: '2024-03-05', status: 'open', customer: { name: 'Ada', email: 'ada@example.org' } },
    tags: ['new'],
  }),
  'a row of a spreadsheet': (index) => ({
    ...{ 'Order Number': index, Qty: `${index}`, 'Unit Price': '1.234,50', Desc: 'A pen' },
    ...{ 'Order Date': '5 March 2024', 'Is Paid': 'yes', STATUS: 'On Hold' },
    ...{ 'customer.name': 'Ada', customer_email: 'ada@example.org', tags: 'new' },
  }),
  misspelled: (index) => ({
    ...{ orderNubmer: `A${index}`, quantiy: index, unitPrcie: 2.5, descripton: 'A pen', stauts: 'open' },
    ...{ custmer: { name: 'Ada' }, unrelated: index },
  }),
  'different unknown names': (index) => ({
    orderNumber: `A${index}`,
    quantity: 1,
    unitPrice: 2,
    [`descripton${index}`]: 'A pen',
    [`custmer_${index}`]: 'Ada',
  }),
}

/** Processor time to adapt 1 MB, by the way in which it is written. */
export async function adaptation({ quick, log }: SuiteContext): Promise<SuiteResult> {
  const rounds = quick ? ROUNDS.quick : ROUNDS.full
  log(`${rounds} rounds`)
  const adapt = compileAdapter(SCHEMA)
  const kinds = Object.entries(ORDERS).map(([name, makeOrder]) => {
    const input = makeInput(makeOrder)
    adapt(input)
    return { name, measure: async () => processorMs(() => adapt(input)) }
  })
  const times = await interleave(kinds, rounds)
  const slowest = Object.values(times)
    .map(toSpread)
    .reduce((a, b) => (b.median > a.median ? b : a))
  return {
    figures: { adaptationTime: slowest },
    details: { title: 'Adapting 1 MB, ms of processor time', rows: spreadRows(times) },
  }
}

/** An input of 1 MB, with the objects that a parser creates. */
function makeInput(makeOrder: (index: number) => JsonObject): JsonObject {
  const orders: Json[] = []
  for (let bytes = 0; bytes < BYTES; ) {
    const order = makeOrder(orders.length)
    orders.push(order)
    bytes += JSON.stringify(order).length
  }
  return parseJson(JSON.stringify({ orders })) as JsonObject
}

function processorMs(run: () => unknown): number {
  const before = process.threadCpuUsage()
  run()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}
