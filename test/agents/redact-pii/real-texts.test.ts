import { isIP } from 'node:net'
import { describe, expect, inject, it, test } from 'vitest'
import run from '../../../agents/redact-pii/agent.ts'
import type { EntityType } from '../../../agents/redact-pii/entity.ts'
import { realTexts } from '../../support/data/real-texts.ts'
import { SIMPLE_EMAIL_PATTERNS } from './email/simple-email-patterns.ts'
import { findInvalidOffsets, redactWith } from './redaction.ts'

const countDigits = (found: string) => found.replace(/[^0-9]/g, '').length

/** A plausibility check for each type, independent of the detectors. */
const IS_PLAUSIBLE: Record<EntityType, (found: string) => boolean> = {
  EMAIL_ADDRESS: (found) => /^\S+@\S+\.\S*\p{L}\S*$/u.test(found),
  PHONE_NUMBER: (found) => /^[+(0-9]/.test(found) && countDigits(found) >= 7 && countDigits(found) <= 22,
  PAYMENT_CARD: (found) => countDigits(found) >= 13 && countDigits(found) <= 19,
  IBAN: (found) => /^[A-Z]{2}[0-9]{2}/i.test(found) && found.length >= 15,
  US_SSN: (found) => countDigits(found) === 9,
  IPV4_ADDRESS: (found) => isIP(found) === 4,
  IPV6_ADDRESS: (found) => isIP(found) === 6,
}

const texts = realTexts()

describe('run on licenses and readmes of the dependencies', () => {
  it('covers fifty texts', () => {
    expect(texts).toHaveLength(50)
  })

  test.each(inject('isNightly') ? texts : texts.slice(0, 10))('redacts $path', ({ content }) => {
    const result = run({ content })
    expect(result.entities.some(({ type }) => type === 'EMAIL_ADDRESS')).toBe(true)
    for (const find of SIMPLE_EMAIL_PATTERNS) expect(find(result.redactedContent)).toEqual([])
    expect(result.redactedContent).toBe(redactWith(content, result))
    expect(findInvalidOffsets(content, result)).toEqual([])
    const implausible = result.entities.filter(
      ({ type, start, end }) => !IS_PLAUSIBLE[type](content.slice(start, end)),
    )
    expect(implausible).toEqual([])
  })
})
