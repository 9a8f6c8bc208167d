import { isIPv4 } from 'node:net'
import type { Span } from './entity.ts'

/** Not inside a word or a longer dotted name or number (`1.2.3.4.5`, `lib.so.1.2.3.4`, `v1.2.3.4`). */
const DOTTED =
  /(?<![A-Za-z0-9])(?<![A-Za-z0-9_]\.)[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?![A-Za-z0-9])(?!\.[0-9])(?!-[A-Za-z])/g

/** What says that four numbers are a version or a section: the word itself, or a browser's product token. */
const NO_ADDRESS_BEFORE =
  /(?:\b(?:versions?|ver|released?|rev|sections?|chapter|clause|appendix)[ \t]?[-.:=]?[ \t]{0,2}|(?:chrome|chromium|crios|edge?|edga|opr|version|electron|safari|yabrowser|vivaldi|samsungbrowser)\/)$/i
const MAX_WORD_BEFORE = 20

/** IPv4 addresses with valid octets; a port or prefix length after it (`:80`, `/24`) stays in the text. */
export function findIpv4Addresses(text: string): Span[] {
  const spans: Span[] = []
  for (const match of text.matchAll(DOTTED)) {
    const start = match.index
    if (!isIPv4(match[0])) continue
    if (NO_ADDRESS_BEFORE.test(text.slice(Math.max(0, start - MAX_WORD_BEFORE), start))) continue
    spans.push({ start, end: start + match[0].length })
  }
  return spans
}
