/** Whether a text contains a match. */
export type Matcher = (text: string) => boolean

let compileRe2: ((pattern: string) => Matcher) | undefined

/** To be called before patterns that are not simple are compiled: see `loadPatternEngine`. */
export function setPatternEngine(engine: (pattern: string) => Matcher): void {
  compileRe2 = engine
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
  if (!compileRe2) throw new Error('loadPatternEngine must be called before a pattern is compiled.')
  try {
    return compileRe2(pattern)
  } catch {
    return undefined
  }
}

/** One part of a simple pattern: a character, an escape or a class, with a quantifier. No groups or alternatives. */
const PART =
  /(?:\\(?:[dDsSwW]|[pP]\{[^}]*\}|u\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|[fnrtv]|[^\da-zA-Z])|\[(?:[^\\\]]|\\.)*\]|[^\\[\](){}|^$*+?])([*+?]|\{\d+(?:,\d*)?\})?\??/uy

/** Characters that may follow a part of variable length: it is matched again for each length. */
const MAX_FOLLOWING = 64
const MAX_REPETITIONS = 1_000

/**
 * Whether a backtracking engine certainly matches a pattern in linear time: without quantifiers, or anchored with at
 * most one part of variable length. Most patterns in schemas are simple; JavaScript's own engine is the fastest for
 * them.
 */
export function isSimplePattern(pattern: string): boolean {
  const isAnchored = pattern.startsWith('^')
  const end = pattern.endsWith('$') && !pattern.endsWith('\\$') ? pattern.length - 1 : pattern.length
  let hasQuantifier = false
  let following: number | undefined
  PART.lastIndex = isAnchored ? 1 : 0
  while (PART.lastIndex < end) {
    const quantifier = PART.exec(pattern)
    if (!quantifier) return false
    const [, text] = quantifier
    const [min, max] = repetitionsOf(text)
    if (text !== undefined) hasQuantifier = true
    if (min > MAX_REPETITIONS || (max !== Number.POSITIVE_INFINITY && max > MAX_REPETITIONS)) return false
    if (min !== max && following !== undefined) return false
    if (following !== undefined) following += max
    else if (min !== max) following = 0
  }
  return (isAnchored || !hasQuantifier) && (following ?? 0) <= MAX_FOLLOWING
}

function repetitionsOf(quantifier: string | undefined): [min: number, max: number] {
  if (quantifier === undefined) return [1, 1]
  if (quantifier === '*') return [0, Number.POSITIVE_INFINITY]
  if (quantifier === '+') return [1, Number.POSITIVE_INFINITY]
  if (quantifier === '?') return [0, 1]
  const [min = '', max] = quantifier.slice(1, -1).split(',')
  return [Number(min), max === undefined ? Number(min) : max === '' ? Number.POSITIVE_INFINITY : Number(max)]
}
