import { getCountrySpecifications, ValidationErrorsIBAN, validateIBAN } from 'ibantools'
import type { Span } from './entity.ts'

const COUNTRIES = getCountrySpecifications()
const MAX_LENGTH = 34
const START = /(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}/g
/** Spaces of several widths and hyphens, as printed between the groups of four. */
const SEPARATOR = /[ \u00a0\u2007\u2009\u202f\u2010\u2011-]/
const ALPHANUMERIC = /[A-Za-z0-9]/

/**
 * Finds IBANs with the length and format of their country and valid mod-97 check digits (ISO 13616, by ibantools).
 * Accepts a wrong national check digit inside the number: a mistyped account number is personal data too.
 */
export function findIbans(text: string): Span[] {
  const spans: Span[] = []
  for (const match of text.matchAll(START)) {
    const length = COUNTRIES[match[0].slice(0, 2).toUpperCase()]?.chars
    if (!length || match.index < (spans.at(-1)?.end ?? 0)) continue
    const read = readGroups(text, match.index, length)
    if (read && isIban(read.characters)) spans.push({ start: match.index, end: read.end })
  }
  return spans
}

/** Reads `length` letters and digits, either ungrouped or in groups of four with one separator between them. */
function readGroups(text: string, start: number, length: number) {
  let characters = ''
  let end = start
  const isGrouped = SEPARATOR.test(text[start + 4] ?? '')
  while (characters.length < Math.min(length, MAX_LENGTH)) {
    if (isGrouped && characters.length > 0 && characters.length % 4 === 0) {
      if (!SEPARATOR.test(text[end] ?? '')) return undefined
      end++
    }
    const character = text[end] ?? ''
    if (!ALPHANUMERIC.test(character)) return undefined
    characters += character
    end++
  }
  return ALPHANUMERIC.test(text[end] ?? '') ? undefined : { characters, end }
}

const isIban = (characters: string) =>
  validateIBAN(characters.toUpperCase()).errorCodes.every(
    (code) => code === ValidationErrorsIBAN.WrongAccountBankBranchChecksum,
  )
