import { describe, expect, it } from 'vitest'
import {
  ACTION_LABELS,
  auditHref,
  changesOf,
  FILTERS,
  type Filters,
  KIND_LABELS,
  labelOf,
  nameOf,
  shorten,
  targetHref,
  toApiQuery,
} from '../../../console/audit/audit.ts'
import * as filters from '../../../console/components/filters.ts'
import { parseHash } from '../../../console/state/location.ts'
import { auditParameters } from '../../../lib/contract/parameters/lists.ts'
import * as core from '../../../lib/core/audit.ts'
import { AGENT_ID, anAuditEntry, idOf, VERSION_ID } from '../../browser/stub/records.ts'

it('has a label for each action and each target of the service', () => {
  expect(Object.keys(ACTION_LABELS).toSorted()).toEqual(core.AUDIT_ACTIONS.toSorted())
  expect(Object.keys(KIND_LABELS).toSorted()).toEqual(core.TARGET_KINDS.toSorted())
})

it('shows an action of a newer service as it is', () => {
  expect(labelOf('toString')).toBe('toString')
  expect(labelOf('agent.publish')).toBe('Publish agent')
})

const parseFilters = (query: URLSearchParams) => filters.parseFilters(FILTERS, query) as Filters
const NO_FILTERS = parseFilters(new URLSearchParams())

describe('filters', () => {
  it.each([
    ['', NO_FILTERS],
    ['action=toString&period=1y&from=yesterday&to=%00', NO_FILTERS],
    [
      `actor=${'a'.repeat(700)}&target=${'b'.repeat(700)}`,
      { ...NO_FILTERS, actor: 'a'.repeat(600), target: 'b'.repeat(200) },
    ],
  ])('of the address %j', (query, expected) => {
    const filters = parseFilters(new URLSearchParams(query))
    expect(filters).toEqual(expected)
    expect(parseFilters(parseHash(auditHref(filters)).query)).toEqual(filters)
    const api = Object.entries(toApiQuery(filters, 1_800_000_000_000)).filter(([, value]) => value !== '')
    expect(auditParameters.safeParse(Object.fromEntries(api)).success).toBe(true)
  })

  it('of a period begin that long ago, whatever else the address says', () => {
    const filters = parseFilters(new URLSearchParams('period=1h&from=2026-01-01T10:00&to=2026-01-02T10:00'))
    expect(toApiQuery(filters, Date.parse('2026-11-20T10:00:00.000Z'))).toMatchObject({
      from: '2026-11-20T09:00:00.000Z',
    })
    expect(auditHref(filters)).toBe('#/audit?period=1h')
  })
})

describe('the page of what was changed', () => {
  const id = idOf(9)
  it.each([
    [{ kind: 'agent', id: AGENT_ID }, `#/agents/${AGENT_ID}`],
    [{ kind: 'version', id: VERSION_ID, agentId: AGENT_ID }, `#/agents/${AGENT_ID}/versions/${VERSION_ID}`],
    [{ kind: 'schedule', id: 'every day', agentId: AGENT_ID }, `#/agents/${AGENT_ID}/schedules/every%20day`],
    [{ kind: 'version', id: VERSION_ID }, null],
    [{ kind: 'execution', id }, `#/runs/${id}`],
    [{ kind: 'batch', id }, `#/batches/${id}`],
    [{ kind: 'trial', id }, `#/trials/${id}`],
    [{ kind: 'tenant', id: '../a?b#c' }, '#/tenants/..%2Fa%3Fb%23c'],
    [{ kind: 'webhook', id: 'default' }, '#/webhooks/default'],
    [{ kind: 'approval', id: 'a'.repeat(32), executionId: id }, `#/approvals?item=${id}.${'a'.repeat(32)}`],
    [{ kind: 'approval', id: 'a'.repeat(32) }, null],
    [{ kind: 'webhook', id: null }, null],
  ] as const)('%j', (target, href) => {
    expect(targetHref(anAuditEntry(1, { target }))).toBe(href)
  })

  it('is gone after it was deleted, not after that has failed, and not with its limits', () => {
    const target = { kind: 'webhook', id } as const
    const entry = anAuditEntry(1, { action: 'webhook.delete', target })
    expect(targetHref(entry)).toBeNull()
    expect(targetHref({ ...entry, result: 'FAILED' })).toBe(`#/webhooks/${id}`)
    expect(targetHref(anAuditEntry(1, { action: 'limits.delete' }))).toBe('#/tenants/acme')
  })
})

it.each([
  [{ kind: 'token', id: idOf(4) }, '01a20000…0004'],
  [{ kind: 'subject', id: idOf(4), name: 'Ada', subject: 'auth0|ada' }, 'Ada'],
  [{ kind: 'subject', id: idOf(4), subject: 'auth0|ada' }, 'auth0|ada'],
  [{ kind: 'cli', id: 'arn:aws:sts::123456789012:assumed-role/Admin/ada' }, 'assumed-role/Admin/ada'],
  [{ kind: 'cli', id: 'arn:aws:iam::123456789012:root' }, 'root'],
  [{ kind: 'cli', id: 'ada@laptop' }, 'ada@laptop'],
] as const)('the actor %j is called %s', (actor, name) => {
  expect(nameOf(actor)).toBe(name)
})

it('changes have what was before where it is known, in words', () => {
  const changes = {
    ...{ enabled: false, agents: null, types: ['a', 'b'], tenants: [] },
    percent: { from: null, to: 10 },
  }
  expect(changesOf(anAuditEntry(1, { changes }))).toEqual([
    { name: 'enabled', from: undefined, to: 'no' },
    { name: 'agents', from: undefined, to: 'not set' },
    { name: 'types', from: undefined, to: 'a, b' },
    { name: 'tenants', from: undefined, to: 'none' },
    { name: 'percent', from: 'not set', to: '10' },
  ])
})

it('only IDs that the service makes are shortened', () => {
  expect(shorten(idOf(12))).toBe('01a20000…0012')
  expect(shorten('0123456789abcdef0123456789abcdef')).toBe('01234567…cdef')
  expect(shorten('a tenant with a long name')).toBe('a tenant with a long name')
})
