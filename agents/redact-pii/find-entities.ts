import { findEmailAddresses } from './email/find-email-addresses.ts'
import type { Detector, Entity, EntityType } from './entity.ts'
import { replacementFor } from './entity.ts'
import { findIbans } from './find-ibans.ts'
import { findIpv4Addresses, findIpv6Addresses } from './find-ip-addresses.ts'
import { findPaymentCards } from './find-payment-cards.ts'
import { findSocialSecurityNumbers } from './find-social-security-numbers.ts'
import { maskPlaceholders, maskSpans } from './mask.ts'
import { createPhoneNumberDetector } from './phone/find-phone-numbers.ts'

/** Most specific format first: a match proven by a checksum or an @ wins over one that only looks like a number. */
const createDetectors = (): [EntityType, Detector][] => [
  ['EMAIL_ADDRESS', findEmailAddresses],
  ['IBAN', findIbans],
  ['PAYMENT_CARD', findPaymentCards],
  ['IPV6_ADDRESS', findIpv6Addresses],
  ['IPV4_ADDRESS', findIpv4Addresses],
  ['US_SSN', findSocialSecurityNumbers],
  ['PHONE_NUMBER', createPhoneNumberDetector()],
]

/** Most texts need two rounds (the second finds nothing). The limit bounds the time for crafted texts. */
const MAX_ROUNDS = 10

/**
 * Returns all entities in the text, sorted, without overlaps. Each detector sees the text with earlier matches masked.
 * A mask can expose a neighbor (it removes the digit next to a number), so the rounds repeat until one finds nothing.
 * This makes redaction idempotent.
 */
export function findEntities(content: string): Entity[] {
  const detectors = createDetectors()
  const entities: Entity[] = []
  let text = maskPlaceholders(content)
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const before = entities.length
    for (const [type, detect] of detectors) {
      const spans = detect(text)
      text = maskSpans(text, spans)
      for (const { start, end } of spans)
        entities.push({ type, start, end, replacement: replacementFor(type) })
    }
    if (entities.length === before) break
  }
  return entities.sort((a, b) => a.start - b.start)
}
