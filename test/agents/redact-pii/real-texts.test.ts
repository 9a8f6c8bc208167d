import { isIP } from 'node:net'
import { describe, expect, it, test } from 'vitest'
import run from '../../../agents/redact-pii/agent.ts'
import type { EntityType } from '../../../agents/redact-pii/entity.ts'
import { realTexts } from '../../support/real-texts.ts'
import { rebuild, wrongOffsets } from './rebuild.ts'
import { SIMPLE_EMAIL_PATTERNS } from './simple-email-patterns.ts'

const digitsOf = (found: string) => found.replace(/[^0-9]/g, '').length

/** What each type must look like to a reader who knows nothing of the detectors. */
const LOOKS_RIGHT: Record<EntityType, (found: string) => boolean> = {
  EMAIL_ADDRESS: (found) => /^\S+@\S+\.\S*\p{L}\S*$/u.test(found),
  PHONE_NUMBER: (found) => /^[+(0-9]/.test(found) && digitsOf(found) >= 7 && digitsOf(found) <= 22,
  PAYMENT_CARD: (found) => digitsOf(found) >= 13 && digitsOf(found) <= 19,
  IBAN: (found) => /^[A-Z]{2}[0-9]{2}/i.test(found) && found.length >= 15,
  US_SSN: (found) => digitsOf(found) === 9,
  IPV4_ADDRESS: (found) => isIP(found) === 4,
  IPV6_ADDRESS: (found) => isIP(found) === 6,
}

const texts = realTexts()

describe('run on the texts of the dependencies', () => {
  it('has fifty of them, each with an e-mail address', () => {
    expect(texts).toHaveLength(50)
  })

  test.each(texts)('redacts $path, and nothing but entities', ({ content }) => {
    const result = run({ content })
    expect(result.entities.some(({ type }) => type === 'EMAIL_ADDRESS')).toBe(true)
    for (const find of SIMPLE_EMAIL_PATTERNS) expect(find(result.redactedContent)).toEqual([])
    expect(result.redactedContent).toBe(rebuild(content, result))
    expect(wrongOffsets(content, result)).toEqual([])
    const wrong = result.entities.filter(
      ({ type, start, end }) => !LOOKS_RIGHT[type](content.slice(start, end)),
    )
    expect(wrong).toEqual([])
  })
})
