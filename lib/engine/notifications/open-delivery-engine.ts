import type { Batch } from '../../core/batch.ts'
import type { Execution, ExecutionSummary } from '../../core/execution.ts'
import type { LeaseTimes } from '../../core/lease-times.ts'
import type { DeliveryResult, SentEvent } from '../../core/notification.ts'
import type { AuditStore } from '../../core/ports/access.ts'
import type { AgentStore, RolloutStore } from '../../core/ports/agents.ts'
import type { BatchStore } from '../../core/ports/batches.ts'
import type { ExecutionStore } from '../../core/ports/executions.ts'
import type { DeliveryStore, WebhookStore } from '../../core/ports/notifications.ts'
import type { DeliveryQueue } from '../../core/ports/queues.ts'
import type { System } from '../../core/ports/system.ts'
import type { LimitStore } from '../../core/ports/usage.ts'
import type { SignalStore } from '../../core/ports/waits.ts'
import type { StepStore } from '../../core/step.ts'
import { readSetting } from '../../environment.ts'
import { readTimes } from '../engine.ts'
import { type SendTrace, traceSender } from '../traces/send-trace.ts'
import { type CircuitBreaker, circuitBreaker } from './circuit-breaker.ts'
import { type Destination, type Destinations, openDestinations } from './destinations.ts'
import { eventSender } from './send-event.ts'

export type DeliveryEngine = {
  executions: Pick<
    ExecutionStore,
    'clearEvents' | 'get' | 'getDeleted' | 'getLimited' | 'getStatus' | 'getSummary'
  >
  agents: Pick<AgentStore, 'getVersion'>
  audit: Pick<AuditStore, 'get'>
  batches: Pick<BatchStore, 'get'>
  limits: Pick<LimitStore, 'getWarning'>
  rollouts: Pick<RolloutStore, 'getAborted'>
  signals: Pick<SignalStore, 'list'>
  steps: Pick<StepStore, 'hasResult' | 'read'>
  deliveries: Pick<DeliveryStore, 'delete' | 'deleteOf' | 'get' | 'list' | 'listOf' | 'put' | 'setHandled'>
  webhooks: Pick<WebhookStore, 'get' | 'update'>
  destinations: Destinations
  breaker: CircuitBreaker
  queue: DeliveryQueue
  system: System
  times: LeaseTimes
  /** Sends an event; never throws. `data`: JSON of the record. */
  send(destination: Destination, event: SentEvent, data: string): Promise<DeliveryResult>
  /** Sends the trace of an execution. @throws Unavailable */
  sendTrace: SendTrace
  /**
   * Starts the scorers of an execution, or takes the end of one to what it scores. Whoever only repeats deliveries to
   * webhooks has none.
   * @throws Unavailable
   */
  score?: (execution: Execution | ExecutionSummary) => Promise<DeliveryResult>
  /** The record that clients see. */
  toRecord(execution: Execution): object
  /** The same without payloads, for an execution whose record is too large. */
  toSummary(execution: ExecutionSummary): object
  toBatchRecord(batch: Batch): object
}

type Parts = Omit<DeliveryEngine, 'webhooks' | 'destinations' | 'breaker' | 'times' | 'send' | 'sendTrace'> &
  Parameters<typeof traceSender>[0]
type Webhooks = DeliveryEngine['webhooks'] &
  Parameters<typeof openDestinations>[0] &
  Parameters<typeof eventSender>[0]

/** What sends events, with what the environment determines. It keeps webhooks and secrets for 30 s. */
export function openDeliveryEngine<Given extends Parts & { webhooks: Webhooks }>(
  parts: Given,
): Given & DeliveryEngine {
  const { webhooks, system, toSummary } = parts
  const times = readTimes()
  return {
    ...parts,
    times,
    destinations: openDestinations(webhooks),
    breaker: circuitBreaker(system.now, times),
    send: eventSender(webhooks, { system }),
    sendTrace: traceSender(parts),
    toSummary: (execution) => ({
      ...toSummary(execution),
      url: `${readSetting('publicUrl') ?? ''}/v1/agent_executions/${execution.id}`,
    }),
  }
}
