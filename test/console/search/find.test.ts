import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findId, formatList, matchTexts, timeOfId } from '../../../console/search/find.ts'

const ID = '01a2003b-8f87-750a-aa33-59d20cae9811'
const HEX = ID.replaceAll('-', '')

describe('findId', () => {
  it.each([
    `"${ID}",`,
    `01a2003b-8f87-750a-\n  aa33-59d20cae9811`,
    ID.replaceAll('-', '‑'),
    `\u200b${ID}\u202e`,
    `/v1/agents/4f9a1c52-0000-5000-8000-000000000000/versions/${ID}?x=1`,
    `Execution ${ID.toUpperCase()} failed.`,
  ])('finds it in %j', (text) => {
    expect(findId(text)).toEqual({ uuid: ID, hex: null })
  })

  it('of 32 digits without hyphens can be that of an approval, too', () => {
    expect(findId(HEX.toUpperCase())).toEqual({ uuid: ID, hex: HEX })
  })

  it.each(['', 'redact-pii', '01a2003b…9811', ID.slice(1), `${ID}0`, 'deadbeef', `${HEX}${HEX}`])(
    'finds none in %j',
    (text) => {
      expect(findId(text)).toBeNull()
    },
  )

  it('is null or a UUID, whatever the text is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(findId(text)?.uuid ?? ID).toMatch(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
      }),
    )
  })
})

it('timeOfId reads a UUIDv7, and no other', () => {
  expect(timeOfId(ID)).toBe(0x01a2003b8f87)
  expect(timeOfId('4f9a1c52-0000-5000-8000-000000000000')).toBeNull()
})

it('matchTexts finds every word, in any order, without accents; texts that begin with it come first', () => {
  const texts = ['Old redact', 'Redact PII redact-pii', 'Résumé writer']
  const match = (query: string) => matchTexts(texts, (text) => text, query)
  expect(match('redact')).toEqual(['Redact PII redact-pii', 'Old redact'])
  expect(match('PII Redact')).toEqual(['Redact PII redact-pii'])
  expect(match('resume')).toEqual(['Résumé writer'])
  expect(match('nothing')).toEqual([])
})

it('formatList joins names', () => {
  expect([[], ['a'], ['a', 'b'], ['a', 'b', 'c']].map(formatList)).toEqual(['', 'a', 'a and b', 'a, b and c'])
})
