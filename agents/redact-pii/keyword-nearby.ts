import type { Span } from './entity.ts'
import { FILLER } from './mask.ts'

/** How far a keyword may stand from the number that it explains, in UTF-16 code units. */
export interface Reach {
  before: number
  after: number
}

/**
 * Whether a keyword explains the number at `span`. The search ends at masked text: how long that is must not
 * decide anything, as a replacement has another length than what it replaces.
 */
export function hasKeywordNearby(text: string, span: Span, keyword: RegExp, reach: Reach): boolean {
  const before = text.slice(Math.max(0, span.start - reach.before), span.start)
  const after = text.slice(span.end, span.end + reach.after)
  return (
    keyword.test(before.slice(before.lastIndexOf(FILLER) + 1)) ||
    keyword.test(after.split(FILLER, 1)[0] ?? '')
  )
}
