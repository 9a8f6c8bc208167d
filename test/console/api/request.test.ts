import { expect, it } from 'vitest'
import { basePathOf, nextQueryOf } from '../../../console/api/request.ts'

it.each([
  ['/console', ''],
  ['/console/', ''],
  ['/prod/console', '/prod'],
  ['/agents/eu/console', '/agents/eu'],
  ['/console/console', '/console'],
  ['/', ''],
])('the API of the page %j is at %j', (pathname, basePath) => {
  expect(basePathOf(pathname)).toBe(basePath)
})

it.each([
  [null, null],
  ['</v1/agents?limit=1>; rel="prev"', null],
  ['</v1/agents?limit=1>; rel="next-archive"', null],
  ['</v1/agents?limit=1&cursor=Mg>; rel="next"', 'limit=1&cursor=Mg'],
  ['</live/v1/agents?cursor=Mg>;rel=next', 'cursor=Mg'],
  ['</v1/agents>; rel="next"', ''],
  ['</v1/a?cursor=1>; rel="prev", </v1/a?cursor=2>; title="a, b"; rel="last next"', 'cursor=2'],
])('the next page of the Link header %j', (header, query) => {
  expect(nextQueryOf(header)?.toString() ?? null).toBe(query)
})
