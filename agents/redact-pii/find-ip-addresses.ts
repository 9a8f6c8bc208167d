import { isIPv4, isIPv6 } from 'node:net'
import type { Span } from './entity.ts'
import { tokensAround } from './tokens-around.ts'

/** Not inside a word or a longer dotted name or number (`1.2.3.4.5`, `lib.so.1.2.3.4`, `v1.2.3.4`). */
const DOTTED_QUAD =
  /(?<![A-Za-z0-9])(?<![A-Za-z0-9_]\.)[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?![A-Za-z0-9])(?!\.[0-9])(?!-[A-Za-z])/g

/** Text that marks four numbers as a version or a section: a keyword, or the product token of a browser. */
const VERSION_BEFORE =
  /(?:\b(?:versions?|ver|released?|rev|sections?|chapter|clause|appendix)[ \t]?[-.:=]?[ \t]{0,2}|(?:chrome|chromium|crios|edge?|edga|opr|version|electron|safari|yabrowser|vivaldi|samsungbrowser)\/)$/i
const MAX_KEYWORD_LENGTH = 20

/** Finds IPv4 addresses with valid octets. Excludes a port or prefix length (`:80`, `/24`) after the address. */
export function findIpv4Addresses(text: string): Span[] {
  const spans: Span[] = []
  for (const match of text.matchAll(DOTTED_QUAD)) {
    const start = match.index
    if (!isIPv4(match[0])) continue
    if (VERSION_BEFORE.test(text.slice(Math.max(0, start - MAX_KEYWORD_LENGTH), start))) continue
    spans.push({ start, end: start + match[0].length })
  }
  return spans
}

const MAX_TOKEN_LENGTH = 120
const TOKEN_UNIT = /[0-9A-Za-z_:.]/
const isTokenUnit = (text: string, index: number) => TOKEN_UNIT.test(text[index] ?? '')

/** A non-hexadecimal label: `addr:` in `addr:2001:db8::1`, `IPv6:` in an SMTP address literal. */
const LABEL_BEFORE = /^[^:]*[G-Zg-z_][^:]*:(?!:)/
/** The next word of a log line. A trailing `::` is part of the address. */
const TAIL = /(?:(?<!:):[^:]*[G-Zg-z_][^:]*|\.[A-Za-z_][^:]*)$/
const TRAILING_PUNCTUATION = /(?:\.+|(?<!:):)$/
/** RFC 4007 zone id of an interface. Only link-local and multicast addresses have one: not `%1` in `%1:2001::1`. */
const ZONE = /%[0-9A-Za-z_]{1,32}(?![0-9A-Za-z_])(?!:[0-9A-Fa-f:])/y
const HAS_ZONE = /^f[ef]/i

/** Finds IPv6 addresses in every form of RFC 4291. Rejects `std::string`, `a::b`, times, MAC addresses and slices. */
export function findIpv6Addresses(text: string): Span[] {
  const spans: Span[] = []
  for (const token of tokensAround(text, ':', isTokenUnit)) {
    if (token.end - token.start > MAX_TOKEN_LENGTH) continue
    const raw = text.slice(token.start, token.end)
    const label = LABEL_BEFORE.exec(raw)?.[0].length ?? 0
    const address = raw.slice(label).replace(TAIL, '').replace(TRAILING_PUNCTUATION, '')
    if (!isIPv6(address) || !isPlausible(address)) continue
    const start = token.start + label
    const end = start + address.length
    spans.push({ start, end: end === token.end ? findZoneEnd(text, address, end) : end })
  }
  return spans
}

function findZoneEnd(text: string, address: string, end: number): number {
  ZONE.lastIndex = end
  return HAS_ZONE.test(address) && ZONE.test(text) ? ZONE.lastIndex : end
}

/** Source code can be valid IPv6. The shapes of the groups tell the two apart. */
function isPlausible(address: string): boolean {
  if (address === '::1' || address.includes('.')) return true
  const groups = address.split(':').filter((group) => group !== '')
  // Eight pairs are an EUI-64. Short groups are times, slices and single-letter names.
  if (!groups.some((group) => group.length >= 3))
    return !address.includes('::') && groups.some((g) => g.length === 1)
  if (groups.length >= 3) return true
  const [first = ''] = groups
  // One or two groups: `abc::def` and `100::200` are more often code; `2001:db8::` and `fe80::1` are addresses.
  if (groups.length === 1 || groups.every((group) => /^\d+$/.test(group)))
    return /^(?:[23]...|f[c-f]..)::?/i.test(address)
  return /\d/.test(address) && first !== ''
}
