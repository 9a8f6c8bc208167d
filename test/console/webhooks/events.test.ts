import { expect, it } from 'vitest'
import {
  EVENT_SOURCES,
  EVENT_TYPES,
  hostOf,
  labelOfEvent,
  lastOutcomes,
  stateOf,
} from '../../../console/webhooks/events.ts'
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
