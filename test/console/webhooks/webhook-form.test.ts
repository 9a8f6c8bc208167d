import { describe, expect, it } from 'vitest'
import { findChanges, toFields, type WebhookFields } from '../../../console/webhooks/webhook-form.ts'
import { aWebhook } from '../../browser/stub/records.ts'

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
