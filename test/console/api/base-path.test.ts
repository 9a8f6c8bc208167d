import { expect, it } from 'vitest'
import { basePathOf } from '../../../console/api/base-path.ts'

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
