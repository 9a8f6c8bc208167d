import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { matchPath } from '../../console/state/location.ts'
import { addressOf, PAGES, STUB_IDS } from '../browser/support/pages.ts'

const routes = readFileSync(new URL('../../console/app/routes.tsx', import.meta.url), 'utf8')

/** Its rows are opened with axe, hostile values, outages, widths and themes, the keyboard and an idle clock. */
it('every route has a page in the table of the browser tests', () => {
  const patterns = [...routes.matchAll(/^ {2}'([^']+)': (?:lazyPage|\w+Page)/gm)].map(
    ([, pattern = '']) => pattern,
  )
  const paths = PAGES.map(([, hash]) => addressOf(hash, STUB_IDS).replace(/^#|\?.*$/g, ''))
  expect(patterns.length).toBeGreaterThan(0)
  expect(patterns.filter((pattern) => !paths.some((path) => matchPath(pattern, path)))).toEqual([])
})
