import type { JsonObject } from '../../core/json.ts'
import { setPatternEngine } from './compile-pattern.ts'
import { listPatterns } from './schema-patterns.ts'
import { isSimplePattern } from './simple-pattern.ts'

let isLoaded = false

/**
 * RE2 (https://github.com/google/re2) matches in linear time, at the price of look-around and back-references. To be called
 * before patterns that are not simple are compiled.
 */
export async function loadPatternEngine(): Promise<void> {
  if (isLoaded) return
  const [{ RE2JS }, { toRe2 }] = await Promise.all([import('re2js'), import('./to-re2.ts')])
  setPatternEngine((pattern) => {
    const expression = RE2JS.compile(toRe2(pattern))
    return (text) => expression.test(text)
  })
  isLoaded = true
}

/** Loads the pattern engine if declared schemas need it. To be called before the schemas are compiled. */
export async function loadPatterns(...declared: JsonObject[]): Promise<void> {
  const patterns = declared.flatMap(listPatterns)
  if (!patterns.every(({ pattern }) => isSimplePattern(pattern))) await loadPatternEngine()
}
