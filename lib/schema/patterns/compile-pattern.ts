import type { RE2JS } from 're2js'
import { isSimplePattern } from './simple-pattern.ts'
import { toRe2 } from './to-re2.ts'

/** Whether a text contains a match. */
export type Matcher = (text: string) => boolean

/** RE2 (https://github.com/google/re2) matches in linear time, at the price of look-around and back-references. */
let engine: typeof RE2JS | undefined

/** To be called before patterns that are not simple are compiled. */
export async function loadPatternEngine(): Promise<void> {
  engine ??= (await import('re2js')).RE2JS
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
  if (!engine) throw new Error('loadPatternEngine must be called before a pattern is compiled.')
  try {
    const expression = engine.compile(toRe2(pattern))
    return (text) => expression.test(text)
  } catch {
    return undefined
  }
}
