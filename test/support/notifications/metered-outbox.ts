import { toBatchRecord } from '../../../lib/contract/records/batch.ts'
import { toExecutionRecord, toExecutionSummary } from '../../../lib/contract/records/execution.ts'
import type { Execution } from '../../../lib/core/execution.ts'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import { NO_USAGE } from '../../../lib/core/model-usage.ts'
import type { DeliveryMessage } from '../../../lib/core/ports/queues.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import { DESTINATIONS_PREFIX } from '../../../lib/dynamodb/table/keys.ts'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { circuitBreaker } from '../../../lib/engine/notifications/circuit-breaker.ts'
import { deliverEvents } from '../../../lib/engine/notifications/deliver.ts'
import { openDestinations } from '../../../lib/engine/notifications/destinations.ts'
import type { DeliveryEngine } from '../../../lib/engine/notifications/open-delivery-engine.ts'
import { withOutbox } from '../../../lib/engine/notifications/outbox.ts'
import { newOutboxMemory, sweepOutbox } from '../../../lib/engine/notifications/sweep-outbox.ts'
import { traceSender } from '../../../lib/engine/traces/send-trace.ts'
import { system } from '../../../lib/system.ts'
import { provisionTable } from '../../../local/emulators/provision.ts'
import { anExecution } from '../engine/executions.ts'
import { meterCapacity } from '../proxy/observe.ts'
import { type Behavior, startProxy } from '../proxy/start-proxy.ts'
import { aWebhook } from './a-webhook.ts'
import { OK } from './an-outbox.ts'

type Options = {
  organizationIds?: string[]
  /** Of each organization. */
  webhooks?: number
  hasEventBus?: boolean
  /** Without content, as protobuf. */
  hasTraces?: boolean
  /** Without an outbox, as if there were none. */
  isPlain?: boolean
}

/**
 * A process that runs, one that delivers, and the sweeper, with a table of their own that meters capacity. Webhooks are
 * stored in it; receivers answer at once, and messages arrive in order.
 */
export async function meteredOutbox(dynamodb: string, options: Options = {}) {
  const { organizationIds = [system.newId()], webhooks = 0, isPlain = false } = options
  const { hasEventBus = false, hasTraces = false } = options
  const tableName = `metered-${system.newId()}`
  await provisionTable(dynamodb, tableName)
  const meter = meterCapacity()
  let destinationReads = 0
  const countReads: Behavior = (request, next) => {
    if (request.operation === 'Query' && request.body.includes(DESTINATIONS_PREFIX)) destinationReads++
    return next(request)
  }
  const proxy = await startProxy(dynamodb, meter.behavior, countReads)
  const stores = openStores(openTable({ TABLE_NAME: tableName, DYNAMODB_ENDPOINT: proxy.url }))
  for (const organizationId of organizationIds)
    for (let i = 0; i < webhooks; i++) await stores.webhooks.create({ webhook: aWebhook({ organizationId }) })

  let [sent, sentBytes] = [0, 0]
  let messages = 0
  let queued: DeliveryMessage[] = []
  const queue = {
    async send(message: DeliveryMessage) {
      messages++
      queued.push(message)
    },
  }
  const environment = {
    ...(hasEventBus && { EVENT_BUS: 'bus' }),
    ...(hasTraces && { OTLP_ENDPOINT: 'https://collector.example' }),
  }
  const receive = async (data: Parameters<typeof Buffer.byteLength>[0]) => {
    sent++
    sentBytes += Buffer.byteLength(data)
    return OK
  }
  const openProcess = () => {
    const destinations = openDestinations(stores.webhooks, { environment })
    return { destinations, ...withOutbox(stores, { queue, system, destinations }) }
  }
  const { executions } = isPlain ? stores : openProcess()
  const engine: DeliveryEngine = {
    ...openProcess(),
    ...{ breaker: circuitBreaker(system.now, leaseTimes()), queue, system, times: leaseTimes() },
    send: (_destination, _event, data) => receive(data),
    // A process reads the slug of a version once.
    sendTrace: traceSender({ ...stores, agents: { getVersion: async () => null } }, environment, ({ body }) =>
      receive(body),
    ),
    ...{ toRecord: toExecutionRecord, toSummary: toExecutionSummary, toBatchRecord },
  }
  meter.take()

  return {
    tableName,

    /** A run that a worker starts and ends with as much output as input. */
    async run(payload: JsonObject, organizationId = organizationIds[0] ?? ''): Promise<void> {
      const now = system.now()
      const lease = { owner: system.newId(), expiresAt: now + leaseTimes().leaseMs }
      const execution: Execution = anExecution({ organizationId, input: payload, now, lease })
      await executions.create({ execution })
      const outcome = { status: 'SUCCESS' as const, output: payload, steps: 0, usage: NO_USAGE, model: null }
      const finishedAt = new Date(system.now()).toISOString()
      await executions.finish({ execution: { ...execution, lease }, outcome, finishedAt })
    },

    /** Processes the messages, as the delivery function does. */
    async deliver(): Promise<void> {
      const received = queued
      queued = []
      await Promise.all(received.map((message) => deliverEvents(engine, message)))
    },

    /** The sweep that finds them old enough. Sends no message if everything is handled. */
    sweep: () =>
      sweepOutbox({
        ...{ deliveries: stores.deliveries, queue, times: leaseTimes(), memory: newOutboxMemory() },
        system: { ...system, now: () => system.now() + 2 * leaseTimes().graceMs },
      }),

    /** Since the last call. `destinationReads`: queries of webhooks. `sentBytes`: of the records in `sent` events. */
    take() {
      const taken = { ...meter.take(), messages, destinationReads, sent, sentBytes }
      messages = destinationReads = sent = sentBytes = 0
      return taken
    },

    stop: () => proxy.stop(),
  }
}
