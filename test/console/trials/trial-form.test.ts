import { describe, expect, it } from 'vitest'
import { toSearchParams } from '../../../console/state/location.ts'
import {
  liveTools,
  needsCostLimit,
  parseForm,
  toFormQuery,
  toTrialBody,
} from '../../../console/trials/trial-form.ts'

const formOf = (query: string) => parseForm(new URLSearchParams(query))

describe('parseForm', () => {
  it('has the defaults of the service, and live models', () => {
    expect(formOf('agent=triage')).toMatchObject({
      ...{ agent: 'triage', version: '', limit: '100', models: 'live', live: [], feedback: '' },
    })
  })

  it('ignores what an edited URL may contain', () => {
    const form = formOf('feedback=all&models=none&from=yesterday')
    expect(form).toMatchObject({ feedback: '', models: 'live' })
    expect(toTrialBody(form, [])).not.toHaveProperty('from')
  })

  it('reads what toFormQuery has written', () => {
    const text =
      'agent=a&version=v&limit=7&from=2026-11-25T09%3A00&tenantId=acme&feedback=rated&live=x,y&models=recorded&ignore=%2Fa%0A%2Fb&maxCost=0.5'
    const form = formOf(text)
    expect(parseForm(toSearchParams(toFormQuery(form)))).toEqual(form)
  })
})

describe('toTrialBody', () => {
  it('has only what was chosen', () => {
    const body = toTrialBody(formOf('agent=a&maxCost=2'), [])
    expect(body).toEqual({ limit: 100, models: 'live', maxTrialCostUsd: 2 })
  })

  it('has each field of the form', () => {
    const query =
      'limit=7&from=2026-11-25T09:00&to=2026-11-26T09:00&tenantId=acme&feedback=corrected&live=get_order,refund&models=recorded&ignore=/at%0A%0A/b'
    expect(toTrialBody(formOf(query), ['get_order'])).toEqual({
      limit: 7,
      from: new Date('2026-11-25T09:00').toISOString(),
      to: new Date('2026-11-26T09:00').toISOString(),
      tenantId: 'acme',
      feedback: 'corrected',
      // A tool that may not be called is not asked for, whatever the URL says.
      tools: { get_order: 'live' },
      models: 'recorded',
      ignore: ['/at', '/b'],
    })
  })
})

it('offers tools that change nothing, and no agents', () => {
  const tools = [
    { name: 'get_order', readOnly: true, http: {} },
    { name: 'refund', http: {} },
    { name: 'redact', readOnly: true, agent: 'redact-pii' },
  ]
  expect(liveTools({ tools })).toEqual(['get_order'])
})

it('needs a cost limit when models are called', () => {
  expect(needsCostLimit({ models: 'live' }, { code: false })).toBe(true)
  expect(needsCostLimit({ models: 'recorded' }, { code: false })).toBe(false)
  expect(needsCostLimit({ models: 'live' }, { code: true })).toBe(false)
})
