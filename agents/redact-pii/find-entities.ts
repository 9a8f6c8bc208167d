import type { Detector, Entity, EntityType } from './entity.ts'
import { replacementOf } from './entity.ts'
import { findEmailAddresses } from './find-email-addresses.ts'
import { findIbans } from './find-ibans.ts'
import { findIpv4Addresses } from './find-ipv4-addresses.ts'
import { findIpv6Addresses } from './find-ipv6-addresses.ts'
import { findPaymentCards } from './find-payment-cards.ts'
import { findSocialSecurityNumbers } from './find-social-security-numbers.ts'
import { maskPlaceholders, maskSpans } from './mask.ts'
import { phoneNumberFinder } from './phone-number-finder.ts'

/** Most telling form first: what a checksum or an @ proves is taken before what only looks like a number. */
const detectorsByPriority = (): [EntityType, Detector][] => [
  ['EMAIL_ADDRESS', findEmailAddresses],
  ['IBAN', findIbans],
  ['PAYMENT_CARD', findPaymentCards],
  ['IPV6_ADDRESS', findIpv6Addresses],
  ['IPV4_ADDRESS', findIpv4Addresses],
  ['US_SSN', findSocialSecurityNumbers],
  ['PHONE_NUMBER', phoneNumberFinder()],
]

/** Two are the rule (the second finds nothing); the bound keeps a text built to need many from costing more. */
const MAX_ROUNDS = 10

/**
 * All entities of the text, sorted, never overlapping. Each detector sees the text with what was found before
 * it masked. A mask can free its neighbour (`\d` beside a number is gone), so rounds repeat until one finds
 * nothing: redacting the redacted text then finds nothing either.
 */
export function findEntities(content: string): Entity[] {
  const detectors = detectorsByPriority()
  const entities: Entity[] = []
  let text = maskPlaceholders(content)
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const before = entities.length
    for (const [type, detect] of detectors) {
      const spans = detect(text)
      text = maskSpans(text, spans)
      for (const { start, end } of spans)
        entities.push({ type, start, end, replacement: replacementOf(type) })
    }
    if (entities.length === before) break
  }
  return entities.sort((a, b) => a.start - b.start)
}
