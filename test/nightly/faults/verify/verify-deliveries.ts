import type { Execution } from '../../../../lib/core/execution.ts'
import { eventIdOf } from '../../../../lib/core/notification.ts'
import { endOf } from '../../../../lib/engine/notifications/outbox.ts'
import type { Receivers } from '../receivers.ts'

type Evidence = { stored: Map<string, Execution>; receivers: Pick<Receivers, 'forbidden' | 'received'> }

/** Events that a receiver has not noted yet. */
export function missingDeliveries({ stored, receivers }: Evidence): string[] {
  const expected = [...stored.values()].filter(
    ({ status, parentExecutionId }) => status !== 'IN_PROGRESS' && parentExecutionId === null,
  )
  return receivers.received().flatMap(({ kind, requests }) => {
    const ids = new Set(requests.map(({ id }) => id))
    return expected
      .filter(
        ({ id, attempts }) =>
          !ids.has(eventIdOf({ subject: { kind: 'execution', id }, revision: attempts + 1 })),
      )
      .map(({ id }) => `The end of ${id} was not delivered to the receiver that ${kind}.`)
  })
}

/**
 * Every problem found with what receivers got.
 * @param evidence with what the services have printed, which must not contain a secret
 */
export function verifyDeliveries(evidence: Evidence & { output: string }): string[] {
  const { stored, receivers, output } = evidence
  const problems = receivers.received().flatMap(({ kind, requests }) =>
    requests.flatMap(({ id, body, problem }) => {
      if (problem) return [`${kind}: the signature of ${id} is not valid: ${problem}`]
      const { type, data } = JSON.parse(body)
      const execution = stored.get(data.id)
      const isEnd = type !== 'execution.waiting'
      if (execution && isEnd && type !== endOf(execution)) return [`${kind}: ${id} says ${type}.`]
      return []
    }),
  )
  const forbidden = receivers.forbidden()
  const isPrinted = (secret: string) => output.includes(secret.replace('whsec_', ''))
  return [
    ...missingDeliveries(evidence),
    ...problems,
    ...receivers
      .received()
      .filter(({ secret }) => isPrinted(secret))
      .map(({ kind }) => `A service printed the secret of the receiver that ${kind}.`),
    ...(forbidden > 0 ? [`${forbidden} requests followed a redirect to a private address.`] : []),
  ]
}
