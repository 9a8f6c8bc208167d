import { isAsciiUnit, isDomainUnit, isSpacelessUnit } from './characters.ts'

/** RFC 5321 address literal: `user@[192.0.2.1]`. */
const ADDRESS_LITERAL = /\[(?:IPv6:)?[0-9A-Fa-f:.]{2,45}\]/iy
const TRAILING_PUNCTUATION = new Set(['.', '-', '_'])
/** A package and its version, `name@1.0.0-beta.3`. Ends in digits, which no top-level domain does. */
const SEMVER = /^v?\d{1,9}(?:\.\d{1,9}){1,3}-[A-Za-z0-9-]{1,20}(?:\.\d{1,9})+$/

/** Returns the end of the domain after the @ at `at`, or `undefined` when no domain follows. */
export function findDomainEnd(text: string, at: number): number | undefined {
  ADDRESS_LITERAL.lastIndex = at + 1
  if (ADDRESS_LITERAL.test(text)) return ADDRESS_LITERAL.lastIndex
  const end = trimTrailingPunctuation(text, at + 1, findRunEnd(text, at + 1))
  return isDomain(text.slice(at + 1, end)) ? end : undefined
}

/**
 * Requires a dot after the first character and a letter after that dot. Deliberately wider than RFC 1035 (`b..com`,
 * `-.com2`): redaction must cover everything that a simple email pattern matches.
 */
function isDomain(domain: string): boolean {
  const dot = domain.indexOf('.', 1)
  return dot !== -1 && /\p{L}/u.test(domain.slice(dot)) && !(domain.length < 64 && SEMVER.test(domain))
}

/** The end of the domain characters. In `anna@example.org给我` the domain ends where the other script starts. */
function findRunEnd(text: string, from: number): number {
  let end = from
  let labelStart = from
  while (end < text.length && isDomainUnit(text, end)) {
    if (text[end] === '.') labelStart = end + 1
    else if (labelStart > from && isAsciiUnit(text, labelStart) && isSpacelessUnit(text, end)) break
    end++
  }
  return end
}

function trimTrailingPunctuation(text: string, from: number, runEnd: number): number {
  let end = runEnd
  while (end > from && TRAILING_PUNCTUATION.has(text[end - 1] ?? '')) end--
  return end
}
