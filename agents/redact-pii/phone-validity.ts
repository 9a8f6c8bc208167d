import { parsePhoneNumberFromString } from 'libphonenumber-js/min'
import { hasPossibleLength } from './phone-lengths.ts'

export type PhoneValidity = (digits: string) => 'valid' | 'possible' | 'invalid'

/**
 * What numbering plans say of a number's digits in international form, calling code first. With the default
 * ("min") metadata, 80 kB: "max" (157 kB) tells mobile from landline by stricter ranges, which for redaction
 * only loses numbers (`+971 4 123 4567`, `+64 9 123 4567`); both know the area codes of North America.
 */
export const phoneValidity: PhoneValidity = (written) => {
  // Mexico dropped the mobile 1 in 2019; messengers still write it.
  const digits = written.replace(/^521(?=\d{10}$)/, '52')
  // Area 555 is not assigned: whoever writes it shows an example of a telephone number.
  if (/^1555\d{7}$/.test(digits)) return 'valid'
  const number = hasPossibleLength(digits) && parsePhoneNumberFromString(`+${digits}`, { extract: false })
  if (!number) return 'invalid'
  if (number.isValid()) return 'valid'
  return number.isPossible() ? 'possible' : 'invalid'
}

/** Asks once per number: rounds and logs repeat them, and the library takes 40 µs each. Kept for one text only. */
export function rememberingPhoneValidity(): PhoneValidity {
  const known = new Map<string, ReturnType<PhoneValidity>>()
  return (digits) => {
    const validity = known.get(digits) ?? phoneValidity(digits)
    known.set(digits, validity)
    return validity
  }
}
