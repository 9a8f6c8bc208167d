import type { Row } from '../report.ts'
import { ALONE, deliveryPrice, measureDelivery, ONE_WEBHOOK } from './deliveries.ts'
import { toBill, totalOf } from './prices.ts'
import { CLIENT, meanReading, type Strategy } from './reading.ts'
import { type Kind, type Load, readUsage, UNDER_LOAD, usageOf } from './usage.ts'

const PAYLOAD_BYTES = 100
const MILLION = 1e6

const WAIT: Strategy = { waitSeconds: () => 25, pauseSeconds: () => 0 }

/** What a caller pays for the result of a model run: for the run, and for learning of its end. */
export async function resultRows(dynamodb: string): Promise<Row[]> {
  const delivery = await measureDelivery(dynamodb, ONE_WEBHOOK, PAYLOAD_BYTES)
  const rows = [
    // The function that waits is the one that runs it.
    { name: 'synchronous', kind: 'sync model' as Kind, wait: async () => 0 },
    { name: 'asynchronous, `Prefer: wait=25`', wait: (load: Load) => readingPrice(WAIT, load) },
    { name: 'asynchronous, read as our clients do', wait: (load: Load) => readingPrice(CLIENT, load) },
    { name: 'asynchronous, a webhook', wait: async (load: Load) => deliveryPrice(delivery, load) },
  ]
  return Promise.all(
    rows.map(async ({ name, kind = 'async model', wait }) => {
      const run = async (load: Load) => (await runPrice(kind, load)) + (await wait(load))
      const dollars = (amount: number) => (amount * MILLION).toFixed(2)
      return {
        'the result of a model run of 20 s': name,
        'the run alone': dollars(await runPrice(kind, ALONE)),
        'the wait': dollars(await wait(ALONE)),
        'US$ per million': dollars(await run(ALONE)),
        'ten together': dollars(await run(UNDER_LOAD)),
      }
    }),
  )
}

/** Without the one read that is part of an asynchronous run elsewhere. */
async function runPrice(kind: Kind, load: Load): Promise<number> {
  const run = totalOf(toBill(await usageOf(kind, PAYLOAD_BYTES, load)))
  if (kind !== 'async model') return run
  const read = await readUsage({ payloadBytes: PAYLOAD_BYTES, load, waitMs: 0, statusReads: 0 })
  return run - totalOf(toBill(read))
}

const readingPrice = async (strategy: Strategy, load: Load): Promise<number> =>
  totalOf(toBill((await meanReading(strategy, PAYLOAD_BYTES, load)).usage))
