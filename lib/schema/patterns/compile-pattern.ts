import { isSimplePattern } from './simple-pattern.ts'

/** Whether a text contains a match. */
export type Matcher = (text: string) => boolean

/** RE2 (https://github.com/google/re2) matches in linear time, at the price of look-around and back-references. */
let compileWithRe2: ((pattern: string) => Matcher) | undefined

/** To be called before patterns that are not simple are compiled. */
export async function loadPatternEngine(): Promise<void> {
  if (compileWithRe2) return
  const [{ RE2JS }, { toRe2 }] = await Promise.all([import('re2js'), import('./to-re2.ts')])
  compileWithRe2 = (pattern) => {
    const expression = RE2JS.compile(toRe2(pattern))
    return (text) => expression.test(text)
  }
}

/**
 * Compiles a regular expression (ECMAScript, flag `u`) into a matcher that takes linear time.
 * @returns undefined if RE2 does not support the pattern
 * @throws Error if RE2 is needed and not loaded
 */
export function compilePattern(pattern: string): Matcher | undefined {
  if (isSimplePattern(pattern)) {
    const expression = new RegExp(pattern, 'u')
    return (text) => expression.test(text)
  }
  if (!compileWithRe2) throw new Error('loadPatternEngine must be called before a pattern is compiled.')
  try {
    return compileWithRe2(pattern)
  } catch {
    return undefined
  }
}
