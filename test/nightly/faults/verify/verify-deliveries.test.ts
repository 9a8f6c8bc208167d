import { describe, expect, it } from 'vitest'
import type { Execution } from '../../../../lib/core/execution.ts'
import { eventIdOf } from '../../../../lib/core/notification.ts'
import { newSecret, signWebhook } from '../../../../lib/engine/notifications/sign-webhook.ts'
import { anExecution } from '../../../support/engine/executions.ts'
import { verifyDeliveries } from './verify-deliveries.ts'

const SECRET = newSecret()
const execution: Execution = { ...anExecution(), status: 'SUCCESS', attempts: 1 }

type Sent = { type?: string; revision?: number; secret?: string }

function requestOf({ type = 'execution.succeeded', revision = 2, secret = SECRET }: Sent = {}) {
  const eventId = eventIdOf({ subject: { kind: 'execution', id: execution.id }, revision })
  const body = JSON.stringify({ type, timestamp: '', data: { id: execution.id } })
  const secrets = [{ secret, createdAt: '', expiresAt: null }]
  return { headers: { ...signWebhook({ eventId, body, secrets, now: Date.now() }) }, body }
}

function verify({
  requests = [requestOf()],
  stored = [execution],
  forbidden = 0,
  output = '',
}: {
  requests?: ReturnType<typeof requestOf>[]
  stored?: Execution[]
  forbidden?: number
  output?: string
}): string[] {
  return verifyDeliveries({
    stored: new Map(stored.map((each) => [each.id, each])),
    receivers: {
      forbidden: () => forbidden,
      received: () => [{ kind: 'works' as const, id: '', secret: SECRET, requests }],
    },
    output,
  })
}

describe('verifyDeliveries', () => {
  it('reports nothing if each end was delivered, also twice, and asks for none of children and of runs in progress', () => {
    const child = { ...anExecution(), status: 'SUCCESS' as const, parentExecutionId: execution.id }
    const waiting = requestOf({ type: 'execution.waiting', revision: 1 })
    const requests = [requestOf(), waiting, requestOf()]
    expect(verify({ requests, stored: [execution, child, anExecution()] })).toEqual([])
  })

  const cases: [problem: string, given: Parameters<typeof verify>[0], reported: string][] = [
    ['an end that was not delivered', { requests: [] }, `end of ${execution.id} was not delivered to the`],
    [
      'an end of which only a wait was delivered',
      { requests: [requestOf({ revision: 1 })] },
      'not delivered',
    ],
    ['another secret', { requests: [requestOf({ secret: newSecret() })] }, 'is not valid'],
    ['a wrong type', { requests: [requestOf({ type: 'execution.failed' })] }, 'says execution.failed'],
    ['a redirect that was followed', { forbidden: 1 }, '1 requests followed a redirect'],
    ['a secret in the output', { output: `{"secret":"${SECRET}"}` }, 'printed the secret'],
  ]
  it.each(cases)('reports %s', (_, given, reported) => {
    expect(verify(given)).toEqual([expect.stringContaining(reported)])
  })
})
