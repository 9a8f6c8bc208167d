import { isIPv6 } from 'node:net'
import type { Span } from './entity.ts'
import { tokensAround } from './tokens-around.ts'

const MAX_TOKEN = 120
const TOKEN_UNIT = /[0-9A-Za-z_:.]/
const isTokenUnit = (text: string, index: number) => TOKEN_UNIT.test(text[index] ?? '')

/** `addr:` in `addr:2001:db8::1`, `IPv6:` in an SMTP literal: a word that is no hexadecimal group. */
const LABEL_BEFORE = /^[^:]*[G-Zg-z_][^:]*:(?!:)/
/** Punctuation after it, or the next word of a log line; `::` at the end belongs to the address. */
const TAIL = /(?:(?<!:):[^:]*[G-Zg-z_][^:]*|\.[A-Za-z_][^:]*)$/
const TRAILING_PUNCTUATION = /(?:\.+|(?<!:):)$/
/** RFC 4007 zone id, an interface's name; only link-local and multicast addresses have one. Not `%1` of `%1:2001::1`. */
const ZONE = /%[0-9A-Za-z_]{1,32}(?![0-9A-Za-z_])(?!:[0-9A-Fa-f:])/y
const HAS_ZONE = /^f[ef]/i

/** IPv6 addresses in every form of RFC 4291, but not `std::string`, `a::b`, times, MACs or slices. */
export function findIpv6Addresses(text: string): Span[] {
  const spans: Span[] = []
  for (const token of tokensAround(text, ':', isTokenUnit)) {
    if (token.end - token.start > MAX_TOKEN) continue
    const raw = text.slice(token.start, token.end)
    const label = LABEL_BEFORE.exec(raw)?.[0].length ?? 0
    const address = raw.slice(label).replace(TAIL, '').replace(TRAILING_PUNCTUATION, '')
    if (!isIPv6(address) || !isPlausible(address)) continue
    const start = token.start + label
    const end = start + address.length
    spans.push({ start, end: end === token.end ? zoneEnd(text, address, end) : end })
  }
  return spans
}

function zoneEnd(text: string, address: string, end: number): number {
  ZONE.lastIndex = end
  return HAS_ZONE.test(address) && ZONE.test(text) ? ZONE.lastIndex : end
}

/** Valid IPv6 may still be code: telling them apart needs the groups' shapes. */
function isPlausible(address: string): boolean {
  if (address === '::1' || address.includes('.')) return true
  const groups = address.split(':').filter((group) => group !== '')
  // Eight pairs are an EUI-64; short groups are times, slices and single-letter names.
  if (!groups.some((group) => group.length >= 3))
    return !address.includes('::') && groups.some((g) => g.length === 1)
  if (groups.length >= 3) return true
  const [first = ''] = groups
  // One or two groups: `abc::def` and `100::200` are more often code, `2001:db8::` and `fe80::1` are not.
  if (groups.length === 1 || groups.every((group) => /^\d+$/.test(group)))
    return /^(?:[23]...|f[c-f]..)::?/i.test(address)
  return /\d/.test(address) && first !== ''
}
