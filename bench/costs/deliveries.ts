import { isOfExecution, type Key } from '../../lib/dynamodb/table/keys.ts'
import { meteredOutbox } from '../../test/support/notifications/metered-outbox.ts'
import { scanTable } from '../../test/support/tables/scan-table.ts'
import { RESOURCES, storedBytesOf } from '../keys/capacity-units.ts'
import { PAYLOAD_SIZES, payloadOf } from '../keys/payloads.ts'
import type { Row } from '../report.ts'
import { addUsage, eventBusPrice, scaleUsage, storagePrice, sum, toBill, totalOf } from './prices.ts'
import { ACCEPT, type Load, ownMilliseconds, toUsage, UNDER_LOAD } from './usage.ts'

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
const MILLION = 1e6

export type Destinations = { webhooks: number; hasEventBus: boolean }

export const ONE_WEBHOOK: Destinations = { webhooks: 1, hasEventBus: false }

const DESTINATIONS: Record<string, Destinations> = {
  none: { webhooks: 0, hasEventBus: false },
  'one webhook': ONE_WEBHOOK,
  'two webhooks': { webhooks: 2, hasEventBus: false },
  'event bus': { webhooks: 0, hasEventBus: true },
}

/** As long as functions are free, each message has one for itself. */
export const ALONE: Load = { ...UNDER_LOAD, runsPerInvocation: 1 }

/** What destinations add to a million runs. */
export function deliveryRows(dynamodb: string): Promise<Row[]> {
  const rows = Object.entries(DESTINATIONS).flatMap(([name, destinations]) =>
    PAYLOAD_SIZES.map((payloadBytes) => ({ name, destinations, payloadBytes })),
  )
  return Promise.all(
    rows.map(async ({ name, destinations, payloadBytes }) => {
      const delivery = await measureDelivery(dynamodb, destinations, payloadBytes)
      const { writeUnits, readUnits, messages, milliseconds, storedBytes, sentBytes } = delivery
      // Without a minus if it is nothing.
      const dollars = (amount: number) => (Math.round(amount * MILLION * 100) / 100 || 0).toFixed(2)
      return {
        'destinations of a run': name,
        'payload, kB': payloadBytes / 1000,
        'write units': writeUnits,
        'read units': readUnits,
        'SQS messages': messages,
        'Lambda time, ms': milliseconds,
        'sent, kB': (sentBytes / 1000).toFixed(1),
        'US$ per million': dollars(deliveryPrice(delivery, ALONE)),
        'ten together': dollars(deliveryPrice(delivery, UNDER_LOAD)),
        'storage per month': dollars(storagePrice(storedBytes)),
      }
    }),
  )
}

type Delivery = Awaited<ReturnType<typeof measureDelivery>>

/** What a run with these destinations uses more than one in a store without an outbox, counted by the emulator. */
export async function measureDelivery(dynamodb: string, destinations: Destinations, payloadBytes: number) {
  const plain = await measurePlainRuns(dynamodb, payloadBytes)
  const reported = await measureRuns(dynamodb, destinations, payloadBytes)
  const { webhooks, hasEventBus } = destinations
  const { messages, eventBytes } = reported
  const waitMs = webhooks > 0 ? RECEIVER_MS : 0
  return {
    writeUnits: reported.writeUnits - plain.writeUnits,
    readUnits: reported.readUnits - plain.readUnits,
    storedBytes: Math.round((reported.storedBytes - plain.storedBytes) / STORED_STEP) * STORED_STEP,
    messages,
    waitMs,
    milliseconds: messages * (ownMilliseconds(DELIVER.roundTrips) + waitMs),
    sentBytes: webhooks * (eventBytes + REQUEST_BYTES),
    busBytes: hasEventBus ? eventBytes : 0,
  }
}

const plainRuns = new Map<string, ReturnType<typeof measureRuns>>()

function measurePlainRuns(dynamodb: string, payloadBytes: number) {
  const key = `${dynamodb} ${payloadBytes}`
  const runs = plainRuns.get(key) ?? measureRuns(dynamodb, { isPlain: true }, payloadBytes)
  plainRuns.set(key, runs)
  return runs
}

type Options = Partial<Destinations> & { isPlain?: boolean }

async function measureRuns(dynamodb: string, options: Options, payloadBytes: number) {
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

/** US dollars for one run. */
export function deliveryPrice(delivery: Delivery, load: Load): number {
  const { writeUnits, readUnits, messages, waitMs, sentBytes, busBytes } = delivery
  if (messages === 0) return 0
  const shared = load.runsPerInvocation
  const usage = addUsage(
    toUsage([{ ...DELIVER, waitMs, shared }], load),
    // The function that ends the run also sends the message.
    toUsage([{ ...ACCEPT, roundTrips: ACCEPT.roundTrips + 1 }], load),
    scaleUsage(toUsage([ACCEPT], load), -1),
  )
  // A message is sent alone, received and deleted with the others of its invocation.
  const queueRequests = 1 + 2 / shared
  const bill = toBill({ ...usage, writeUnits, readUnits, queueRequests, messages, sentBytes })
  return totalOf(bill) + eventBusPrice(busBytes)
}
