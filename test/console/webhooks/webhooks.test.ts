import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../console/api/api-error.ts'
import {
  EVENT_SOURCES,
  EVENT_TYPES,
  hostOf,
  labelOfEvent,
  lastOutcomes,
  stateOf,
} from '../../../console/webhooks/events.ts'
import { type Redelivery, redeliverAll } from '../../../console/webhooks/redeliver-dialog.tsx'
import { findChanges, toFields, type WebhookFields } from '../../../console/webhooks/webhook-form.ts'
import * as core from '../../../lib/core/notification.ts'
import { aDelivery, aWebhook } from '../../browser/stub/records.ts'

it('has a label for each event and each source of the service, in its order', () => {
  expect(EVENT_TYPES).toEqual(core.EVENT_TYPES)
  expect(EVENT_SOURCES).toEqual(core.EVENT_SOURCES)
})

it('shows an event of a newer service as it is', () => {
  expect(labelOfEvent('toString')).toBe('toString')
  expect(labelOfEvent('webhook.test')).toBe('Test')
})

it.each([
  ['https://user:secret@shop.example/hooks/secret?token=secret', 'shop.example'],
  ['http://localhost:8080/', 'localhost:8080'],
  ['no URL', 'Webhook'],
])('names a webhook by its host, without what may be secret: %s', (url, host) => {
  expect(hostOf(url)).toBe(host)
})

it.each([
  [{}, 'enabled', /receives events/],
  [{ failingSince: '2026-11-25T09:00:00.000Z' }, 'failing', /three days/],
  [{ enabled: false, disabledReason: 'gone' as const }, 'disabled', /410/],
  [
    { enabled: false, disabledReason: 'failing' as const, failingSince: '2026-11-25T09:00:00.000Z' },
    'disabled',
    /for three days/,
  ],
])('the state of %o is %s', (overrides, kind, text) => {
  const state = stateOf(aWebhook(overrides))
  expect(state.kind).toBe(kind)
  expect(state.text).toMatch(text)
})

it('lastOutcomes are the latest attempts, whatever the order of the deliveries is', () => {
  const at = (hour: number) => `2026-11-25T0${hour}:00:00.000Z`
  const deliveries = [
    aDelivery(1, { status: 'DELIVERED', attemptedAt: at(3) }),
    aDelivery(2, { status: 'FAILED', attemptedAt: at(2) }),
    aDelivery(3, { status: 'DELIVERED', attemptedAt: at(5) }),
    aDelivery(4, { status: 'PENDING', attemptedAt: at(4) }),
  ]
  expect(lastOutcomes(deliveries)).toEqual({ success: at(5), failure: at(4) })
  expect(lastOutcomes([])).toEqual({ success: null, failure: null })
})

const problem = (status: number, retryAfter: number | null = null) =>
  new ApiError('It cannot be.', { status, code: `Http${status}`, retryAfter })

type Answer = { status: string; error: string | null } | ApiError
const ACCEPTED = { status: 'DELIVERED', error: null }

/** @param answers of each event, one for each attempt */
function start(answers: Record<string, Answer[]>, controller = new AbortController()) {
  const asked: string[] = []
  const slept: number[] = []
  const seen: Redelivery[] = []
  const result = redeliverAll(Object.keys(answers), {
    async redeliver(id) {
      asked.push(id)
      const answer = answers[id]?.shift()
      if (!answer) throw new Error(`No answer is left for ${id}.`)
      if (answer instanceof ApiError) throw answer
      return answer
    },
    sleep: async (ms) => slept.push(ms),
    onProgress: (progress) => seen.push(progress),
    signal: controller.signal,
  })
  return { result, asked, slept, seen, controller }
}

describe('redeliverAll', () => {
  it('sends one after the other, and counts what was accepted now, not before', async () => {
    const { result, asked, seen } = start({
      a: [ACCEPTED],
      b: [{ status: 'FAILED', error: 'The receiver answered 500.' }],
      c: [problem(404)],
      d: [{ status: 'DELIVERED', error: 'The receiver answered 503.' }],
      e: [ACCEPTED],
    })
    expect(await result).toEqual({
      ...{ done: 5, accepted: 2, gone: 1 },
      lastError: 'The receiver answered 503.',
    })
    expect(asked).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(seen.map(({ done }) => done)).toEqual([1, 2, 3, 4, 5])
  })

  it('waits as long as the service says, then sends the same event again', async () => {
    const { result, asked, slept } = start({ a: [problem(429, 7), problem(503), ACCEPTED], b: [ACCEPTED] })
    expect(await result).toMatchObject({ done: 2, accepted: 2 })
    expect(asked).toEqual(['a', 'a', 'a', 'b'])
    expect(slept).toEqual([7_000, 2_000])
  })

  it('ends with an error of the service, and when it is not available for long', async () => {
    const { result, asked } = start({ a: [ACCEPTED], b: [problem(403)], c: [ACCEPTED] })
    await expect(result).rejects.toMatchObject({ status: 403 })
    expect(asked).toEqual(['a', 'b'])
    const unavailable = start({ a: Array.from({ length: 9 }, () => problem(503)) })
    await expect(unavailable.result).rejects.toMatchObject({ status: 503 })
  })

  it('stops after the attempt that is under way', async () => {
    const controller = new AbortController()
    const { result, asked } = start({ a: [ACCEPTED], b: [ACCEPTED] }, controller)
    controller.abort()
    expect(await result).toMatchObject({ done: 1 })
    expect(asked).toEqual(['a'])
  })
})

describe('toFields', () => {
  it('reads the form; what is empty selects everything', () => {
    const form: Parameters<typeof toFields>[0] = {
      url: ' https://shop.example/events ',
      types: ['batch.ended', 'execution.failed'],
      agents: '',
      tenants: '\n',
      sources: ['SCHEDULE', 'BATCH', 'API'],
      allowedHosts: '',
    }
    expect(toFields(form)).toEqual({
      url: 'https://shop.example/events',
      types: ['execution.failed', 'batch.ended'],
      ...{ agents: null, tenants: null, sources: null, allowedHosts: [] },
    })
  })

  it('has one item per line, so that a tenant can have a comma', () => {
    const form: Parameters<typeof toFields>[0] = {
      ...{ url: 'https://a.example', types: ['batch.ended'], agents: 'triage\n\n  price-order ' },
      ...{ tenants: 'acme, Ltd.\nglobex', sources: ['API'], allowedHosts: 'localhost:8080' },
    }
    expect(toFields(form)).toMatchObject({
      agents: ['triage', 'price-order'],
      tenants: ['acme, Ltd.', 'globex'],
      sources: ['API'],
      allowedHosts: ['localhost:8080'],
    })
  })
})

it('findChanges finds what was changed, also to everything, whatever the order is', () => {
  const webhook = aWebhook({ types: ['execution.failed', 'batch.ended'], tenants: ['a', 'b'] })
  const { url, types, agents, tenants, sources, allowedHosts } = webhook
  const same: WebhookFields = { url, types, agents, tenants, sources, allowedHosts }
  expect(findChanges(webhook, { ...same, types: types.toReversed(), tenants: ['b', 'a'] })).toEqual({})
  const changes = { tenants: null, url: 'https://b.example' }
  expect(findChanges(webhook, { ...same, ...changes })).toEqual(changes)
})
