import type { Span } from './entity.ts'
import { MASK } from './mask.ts'

/** How far from the number a keyword may be, in UTF-16 code units. */
export interface KeywordWindow {
  before: number
  after: number
}

/**
 * Whether a keyword near `span` confirms the number. The search stops at masked text: a placeholder and the text that
 * it replaces differ in length, so a search across it would depend on whether the text was redacted before.
 */
export function hasKeywordNearby(text: string, span: Span, keyword: RegExp, window: KeywordWindow): boolean {
  const before = text.slice(Math.max(0, span.start - window.before), span.start)
  const after = text.slice(span.end, span.end + window.after)
  return (
    keyword.test(before.slice(before.lastIndexOf(MASK) + 1)) || keyword.test(after.split(MASK, 1)[0] ?? '')
  )
}
