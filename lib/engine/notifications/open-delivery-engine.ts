import { PUBLIC_URL } from '../../environment.ts'
import { readTimes } from '../engine.ts'
import { circuitBreaker } from './circuit-breaker.ts'
import type { DeliveryEngine } from './deliver.ts'
import { openDestinations } from './destinations.ts'
import { eventSender } from './send-event.ts'

type Parts = Omit<DeliveryEngine, 'webhooks' | 'destinations' | 'breaker' | 'times' | 'send'>
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
    send: eventSender(webhooks, { system, times }),
    toSummary: (execution) => ({
      ...toSummary(execution),
      url: `${process.env[PUBLIC_URL] ?? ''}/v1/agent_executions/${execution.id}`,
    }),
  }
}
