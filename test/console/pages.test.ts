import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { matchPath } from '../../console/state/location.ts'

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
const patterns = [...read('console/app/routes.tsx').matchAll(/ route\('([^']+)'/g)].map(
  ([, pattern = '']) => pattern,
)

describe('every page', () => {
  it.each(['accessibility', 'hostile-values', 'idle', 'outages'])(
    'is opened by test/browser/%s.test.ts',
    (name) => {
      const addresses = [...read(`test/browser/${name}.test.ts`).matchAll(/['"`]#(\/[^'"`?]*)/g)].map(
        ([, path = '']) => path,
      )
      expect(patterns.length).toBeGreaterThan(0)
      expect(patterns.filter((pattern) => !addresses.some((path) => matchPath(pattern, path)))).toEqual([])
    },
  )
})
