import { isSimplePattern } from './simple-pattern.ts'

/** Whether a text contains a match. */
export type Matcher = (text: string) => boolean

/** @throws Error for a pattern that the engine does not support */
export type PatternEngine = (pattern: string) => Matcher

let engine: PatternEngine | undefined

/** To be called before patterns that are not simple are compiled: see `loadPatternEngine`. */
export function setPatternEngine(next: PatternEngine): void {
  engine = next
}

/**
 * Compiles a regular expression (ECMAScript, flag `u`) into a matcher that takes linear time.
 * @returns undefined if the engine does not support the pattern
 * @throws Error if an engine is needed and not loaded
 */
export function compilePattern(pattern: string): Matcher | undefined {
  if (isSimplePattern(pattern)) {
    const expression = new RegExp(pattern, 'u')
    return (text) => expression.test(text)
  }
  if (!engine) throw new Error('loadPatternEngine must be called before a pattern is compiled.')
  try {
    return engine(pattern)
  } catch {
    return undefined
  }
}
