import { getCountries, getCountryCallingCode, Metadata } from 'libphonenumber-js/min'

/** Calling code to the lengths that a national number of its countries can have. */
const LENGTHS = new Map<string, Set<number>>()

const metadata = new Metadata()
for (const country of getCountries()) {
  metadata.selectNumberingPlan(country)
  const code = getCountryCallingCode(country)
  const lengths = LENGTHS.get(code) ?? new Set()
  for (const length of metadata.numberingPlan?.possibleLengths() ?? []) lengths.add(length)
  LENGTHS.set(code, lengths)
}

/**
 * Whether digits in international form can be a number of their country by length alone, the trunk prefix of
 * `+44 (0)20` allowed. A cheap question that spares most wrong candidates the library's parsing (40 µs each).
 * Codes of no country (`+800`) are let pass.
 */
export function hasPossibleLength(digits: string): boolean {
  if (digits.startsWith('0')) return false
  for (const codeLength of [1, 2, 3]) {
    const lengths = LENGTHS.get(digits.slice(0, codeLength))
    const national = digits.length - codeLength
    if (lengths) return lengths.has(national) || lengths.has(national - 1)
  }
  return true
}
