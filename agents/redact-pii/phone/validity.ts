import {
  getCountries,
  getCountryCallingCode,
  Metadata,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/min'

/** Validity of a number by the numbering plans. Takes the digits in international format, calling code first. */
export type GetPhoneValidity = (digits: string) => 'valid' | 'possible' | 'invalid'

/**
 * Uses the default ("min") metadata, 80 kB. "max" (157 kB) distinguishes mobile from landline with stricter ranges; for
 * redaction that only misses numbers (`+971 4 123 4567`, `+64 9 123 4567`). Both have the North American area codes.
 */
const getPhoneValidity: GetPhoneValidity = (written) => {
  // Mexico dropped the mobile 1 in 2019, but messengers still write it.
  const digits = written.replace(/^521(?=\d{10}$)/, '52')
  // Area code 555 is not assigned. It is common in examples of phone numbers.
  if (/^1555\d{7}$/.test(digits)) return 'valid'
  const number = hasPossibleLength(digits) && parsePhoneNumberFromString(`+${digits}`, { extract: false })
  if (!number) return 'invalid'
  if (number.isValid()) return 'valid'
  return number.isPossible() ? 'possible' : 'invalid'
}

/** Parses each number once: rounds and logs repeat them, and parsing takes 40 µs. */
export function createCachedValidity(): GetPhoneValidity {
  const cache = new Map<string, ReturnType<GetPhoneValidity>>()
  return (digits) => {
    const validity = cache.get(digits) ?? getPhoneValidity(digits)
    cache.set(digits, validity)
    return validity
  }
}

/** Possible lengths of a national number, by calling code. */
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
 * A cheap check that avoids parsing most false candidates. Allows the trunk prefix in `+44 (0)20`, and accepts calling
 * codes that belong to no country (`+800`).
 */
function hasPossibleLength(digits: string): boolean {
  if (digits.startsWith('0')) return false
  for (const codeLength of [1, 2, 3]) {
    const lengths = LENGTHS.get(digits.slice(0, codeLength))
    const national = digits.length - codeLength
    if (lengths) return lengths.has(national) || lengths.has(national - 1)
  }
  return true
}
