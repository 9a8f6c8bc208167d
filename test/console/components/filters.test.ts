import { expect, it } from 'vitest'
import {
  AGENT_FILTER,
  hrefOf,
  isFiltered,
  parseFilters,
  TIME_FILTER,
} from '../../../console/components/filters.ts'

const FILTERS = {
  show: { label: 'Shown', choices: { valid: 'Valid', all: 'All' }, default: 'valid' },
  search: { label: 'Search', type: 'search' },
  ...AGENT_FILTER,
  ...TIME_FILTER,
} as const

const parse = (query: string) => parseFilters(FILTERS, new URLSearchParams(query))

it.each([
  ['', '#/list', false],
  ['show=valid', '#/list', false],
  ['show=all', '#/list?show=all', false],
  ['show=none&period=1y&from=yesterday', '#/list', false],
  ['agent=%20a%20', '#/list?agent=a', true],
  ['search=%20a%20', '#/list?search=+a+', true],
  ['period=1h&from=2026-01-01T10:00', '#/list?period=1h', true],
  ['from=2026-01-01T10:00', '#/list?period=custom&from=2026-01-01T10%3A00', true],
])('of the query %j', (query, href, filters) => {
  const values = parse(query)
  expect(hrefOf('/list', FILTERS, values)).toBe(href)
  expect(isFiltered(FILTERS, values)).toBe(filters)
  expect(parse(href.split('?')[1] ?? '')).toEqual({ ...values, ...(values.period === '1h' && { from: '' }) })
})
