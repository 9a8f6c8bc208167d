import type { Detector } from './entity.ts'
import { findInternationalPhoneNumbers } from './find-international-phone-numbers.ts'
import { findUsPhoneNumbers } from './find-us-phone-numbers.ts'
import { maskSpans } from './mask.ts'
import { rememberingPhoneValidity } from './phone-validity.ts'

/** Finds telephone numbers: international ones first, then the US forms in what they leave. One for each text. */
export function phoneNumberFinder(): Detector {
  const validityOf = rememberingPhoneValidity()
  return (text) => {
    const international = findInternationalPhoneNumbers(text, validityOf)
    const national = findUsPhoneNumbers(maskSpans(text, international), validityOf)
    return [...international, ...national].sort((a, b) => a.start - b.start)
  }
}
