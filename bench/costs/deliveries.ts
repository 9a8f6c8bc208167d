import { isOfExecution, type Key } from '../../lib/dynamodb/table/keys.ts'
import { meteredOutbox } from '../../test/support/notifications/metered-outbox.ts'
import { scanTable } from '../../test/support/tables/sdk.ts'
import { RESOURCES, storedBytesOf } from '../keys/capacity-units.ts'
import { payloadOf } from '../keys/payloads.ts'
import type { Row } from '../report.ts'
import { addUsage, eventBusPrice, perMillion, scaleUsage, sum, toBill, totalOf } from './prices.ts'
import { ACCEPT, ALONE, toUsage } from './usage.ts'

/** Until a receiver has answered, which a function waits for. */
const RECEIVER_MS = 100
/** Request line and headers, and what an event has beside the record. */
const REQUEST_BYTES = 600
/** The record, what is known of its deliveries, the delivery, and that all events are handled. */
const DELIVER = { function: 'deliver-events', roundTrips: 4, logBytes: 300 } as const
/** Of which the mean is taken. */
const RUNS = 4
/** Stored bytes are rounded to these: they vary by the digits of times that were measured. */
const STORED_STEP = 40

/** `isPlain`: a store without an outbox. */
type Destinations = { webhooks?: number; hasEventBus?: boolean; hasTraces?: boolean; isPlain?: boolean }

const DESTINATIONS: Record<string, Destinations> = {
  'one webhook': { webhooks: 1 },
  'two webhooks': { webhooks: 2 },
  'event bus': { hasEventBus: true },
  traces: { hasTraces: true },
}

/** What destinations add to a million runs. */
export async function deliveryRows(dynamodb: string): Promise<Row[]> {
  const plain = {
    small: await measureRuns(dynamodb, { isPlain: true }, 100),
    large: await measureRuns(dynamodb, { isPlain: true }, 15_000),
  }
  return Promise.all(
    Object.entries(DESTINATIONS).map(async ([name, destinations]) => {
      const small = addedBy(destinations, await measureRuns(dynamodb, destinations, 100), plain.small)
      const large = addedBy(destinations, await measureRuns(dynamodb, destinations, 15_000), plain.large)
      return {
        'destinations of a run': name,
        'write units': small.writeUnits,
        'read units': small.readUnits,
        'US$ per million, 0.1 kB': perMillion(deliveryPrice(small)),
        'US$ per million, 15 kB': perMillion(deliveryPrice(large)),
        'stored bytes': small.storedBytes.toLocaleString('en-US'),
      }
    }),
  )
}

type Measured = Awaited<ReturnType<typeof measureRuns>>

/** What a run with these destinations uses more than one in a store without an outbox. */
const addedBy = (
  { webhooks = 0, hasEventBus, hasTraces }: Destinations,
  reported: Measured,
  plain: Measured,
) => ({
  writeUnits: reported.writeUnits - plain.writeUnits,
  readUnits: reported.readUnits - plain.readUnits,
  storedBytes: Math.round((reported.storedBytes - plain.storedBytes) / STORED_STEP) * STORED_STEP,
  messages: reported.messages,
  waitMs: webhooks > 0 || hasTraces ? RECEIVER_MS : 0,
  // A trace is read from the journal, by one more request.
  roundTrips: DELIVER.roundTrips + (hasTraces ? 1 : 0),
  sentBytes: (hasTraces ? 1 : webhooks) * (reported.eventBytes + REQUEST_BYTES),
  busBytes: hasEventBus ? reported.eventBytes : 0,
})

/** Counted by the emulator. */
async function measureRuns(dynamodb: string, options: Destinations, payloadBytes: number) {
  const outbox = await meteredOutbox(dynamodb, options)
  const runAll = async (runs: number) => {
    for (let run = 0; run < runs; run++) await outbox.run(payloadOf(payloadBytes))
    await outbox.deliver()
  }
  try {
    // Reads the destinations.
    await runAll(1)
    outbox.take()
    await runAll(RUNS)
    const { writeUnits, readUnits, messages, sentBytes, sent } = outbox.take()
    await outbox.sweep()
    const swept = outbox.take()
    const items = (await scanTable(dynamodb, outbox.tableName)).filter((item) => isOfExecution(item as Key))
    const storedBytes = sum(
      items.flatMap((item) => RESOURCES.map((resource) => storedBytesOf(resource, item))),
    )
    return {
      writeUnits: writeUnits / RUNS,
      // The sweeper reads all runs, also the first one.
      readUnits: readUnits / RUNS + swept.readUnits / (RUNS + 1),
      messages: messages / RUNS,
      eventBytes: sentBytes / Math.max(sent, 1),
      storedBytes: storedBytes / (RUNS + 1),
    }
  } finally {
    await outbox.stop()
  }
}

/** US dollars for one run, in an invocation of its own. A message is sent, received and deleted. */
function deliveryPrice(delivery: ReturnType<typeof addedBy>): number {
  const { writeUnits, readUnits, messages, waitMs, roundTrips, sentBytes, busBytes } = delivery
  const usage = addUsage(
    toUsage([{ ...DELIVER, waitMs, roundTrips }], ALONE),
    // The function that ends the run also sends the message.
    toUsage([{ ...ACCEPT, roundTrips: ACCEPT.roundTrips + 1 }], ALONE),
    scaleUsage(toUsage([ACCEPT], ALONE), -1),
  )
  const bill = toBill({ ...usage, writeUnits, readUnits, queueRequests: 3, messages, sentBytes })
  return totalOf(bill) + eventBusPrice(busBytes)
}
