import { describe, expect, it } from 'vitest'
import { searchAgents } from '../../../console/agents/agent-list.ts'
import { foldLines } from '../../../console/agents/compare-page.tsx'
import { durationOf, durationsOf, groupErrors, percentile } from '../../../console/agents/run-figures.ts'
import { anExecutionRecord, aRunSummary } from '../../browser/stub/records.ts'

const agent = (slug: string, title: string, description: string | null = null) => ({
  ...{ id: `id-of-${slug}`, slug, title, description },
})

it.each([
  ['  ', ['redact-pii', 'summarize-text', 'text-tools']],
  // In any order and case, without accents.
  ['TEXT resume', ['summarize-text']],
  // In descriptions, after titles and slugs.
  ['text', ['summarize-text', 'text-tools', 'redact-pii']],
  ['text nothing', []],
  ['null', []],
  ['id-of-text-tools', ['text-tools']],
])('searchAgents finds for %j: %j', (query, found) => {
  const agents = [
    agent('redact-pii', 'Redact PII', 'Replaces personal data in a text.'),
    agent('summarize-text', 'Résumé', 'Summarizes a text.'),
    agent('text-tools', 'Tools'),
  ]
  expect(searchAgents(agents, query).map(({ slug }) => slug)).toEqual(found)
})

it('a percentile is a value of the list', () => {
  expect([percentile([], 0.5), percentile([7], 0.99)]).toEqual([null, 7])
  expect([0.5, 0.9, 1].map((part) => percentile([10, 9, 8, 7, 6, 5, 4, 3, 2, 1], part))).toEqual([5, 9, 10])
})

it('a run that is not final, or whose result was reused, has no duration', () => {
  const cached = anExecutionRecord(2, { cached: true })
  const open = anExecutionRecord(3, { status: 'IN_PROGRESS', finishedAt: null })
  expect([durationOf(cached), durationOf(open)]).toEqual([null, null])
  expect(durationsOf([anExecutionRecord(1), cached, open])).toEqual([500])
})

const failed = (
  number: number,
  message: string,
  { code = 'AgentFailed', tenantId = null as string | null } = {},
) => aRunSummary(number, { status: 'ERROR', error: { code, message }, tenantId })

describe('groupErrors', () => {
  it('puts messages together that differ in numbers and IDs only, the largest group first', () => {
    const runs = [
      failed(0, 'The address book is locked.'),
      failed(1, 'Order A-1042 was not found.', { tenantId: 'acme' }),
      aRunSummary(2),
      failed(3, 'Order "O-7" was not found.'),
      failed(4, 'Order B-1 was not found.', { tenantId: 'globex' }),
      failed(5, 'Order 01a2003a-d1f2-7169-a695-5ea4428d9251 was not found.', { tenantId: 'acme' }),
    ]
    const [first, ...others] = groupErrors(runs)
    expect(first).toMatchObject({ count: 3, tenants: ['acme', 'globex'], firstSeen: runs[5]?.createdAt })
    expect(first?.last.id).toBe(runs[1]?.id)
    expect(others.map(({ count, last }) => [count, last.error?.message])).toEqual([
      [1, 'The address book is locked.'],
      [1, 'Order "O-7" was not found.'],
    ])
  })

  it('keeps codes apart, and leaves out runs that somebody cancelled, or that have no error', () => {
    const runs = [
      failed(0, 'x', { code: 'TimedOut' }),
      failed(1, 'x'),
      failed(2, 'x', { code: 'Cancelled' }),
      aRunSummary(3, { status: 'ERROR', error: null }),
    ]
    expect(groupErrors(runs).map(({ code }) => code)).toEqual(['TimedOut', 'AgentFailed'])
  })

  it('takes a moment for a thousand long messages', () => {
    const runs = Array.from({ length: 1_000 }, (_, index) =>
      failed(index, `${'a'.repeat(20_000)} of ${index}`),
    )
    const begun = performance.now()
    expect(groupErrors(runs).length).toBe(1)
    expect(performance.now() - begun).toBeLessThan(3_000)
  })
})

const KINDS = { '+': 'added', '-': 'removed', '.': 'same' } as const

/** Three unchanged lines around a difference are shown, and the others folded, but never a single line. */
it.each([
  ['......+......', ['0 to 3, folded', '3 to 10', '10 to 13, folded']],
  ['-......+', ['0 to 8']],
  ['....+', ['0 to 1', '1 to 5']],
  ['.....', ['0 to 5, folded']],
])('the lines %s are shown as %j', (kinds, expected) => {
  const lines = [...kinds].map((kind) => ({ kind: KINDS[kind as keyof typeof KINDS], text: 'x' }))
  const parts = foldLines(lines).map(({ start, lines: { length }, isFolded }) => {
    return `${start} to ${start + length}${isFolded ? ', folded' : ''}`
  })
  expect(parts).toEqual(expected)
})
