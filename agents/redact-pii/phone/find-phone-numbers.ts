import type { Detector } from '../entity.ts'
import { maskSpans } from '../mask.ts'
import { findInternationalPhoneNumbers } from './find-international-phone-numbers.ts'
import { findUsPhoneNumbers } from './find-us-phone-numbers.ts'
import { createCachedValidity } from './validity.ts'

/** Finds international numbers, then US formats in the rest. Create one detector per text: it caches validity. */
export function createPhoneNumberDetector(): Detector {
  const getValidity = createCachedValidity()
  return (text) => {
    const international = findInternationalPhoneNumbers(text, getValidity)
    const national = findUsPhoneNumbers(maskSpans(text, international), getValidity)
    return [...international, ...national].sort((a, b) => a.start - b.start)
  }
}
