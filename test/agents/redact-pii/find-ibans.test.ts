import { describe, expect, it, test } from 'vitest'
import { findIbans } from '../../../agents/redact-pii/find-ibans.ts'
import { type Case, findTexts } from './find-texts.ts'

/** Examples from the SWIFT IBAN registry. */
const IBANS = [
  'DE89370400440532013000',
  'GB29NWBK60161331926819',
  'FR1420041010050500013M02606',
  'NL91ABNA0417164300',
  'NO9386011117947',
  'ES9121000418450200051332',
  'IT60X0542811101000000123456',
  'CH9300762011623852957',
  'MT84MALT011000012345MTLCAST001S',
  'SA0380000000608010167519',
  'BR1800360305000010009795493C1',
]

const groupByFour = (iban: string, separator: string) => iban.replace(/(.{4})(?=.)/g, `$1${separator}`)

const IN_CONTEXT: Case[] = [
  ['IBAN DE89 3704 0044 0532 0130 00 and more', ['DE89 3704 0044 0532 0130 00']],
  ['NO93 8601 1117 947 kr', ['NO93 8601 1117 947']],
  [
    'DE89 3704 0044 0532 0130 00 GB29 NWBK 6016 1331 9268 19',
    ['DE89 3704 0044 0532 0130 00', 'GB29 NWBK 6016 1331 9268 19'],
  ],
  ['IBAN:NL91ABNA0417164300,', ['NL91ABNA0417164300']],
]

const NONE = [
  'DE88370400440532013000',
  'DE8937040044053201300',
  'DE893704004405320130001',
  'XX89370400440532013000',
  'ADE89370400440532013000',
  'DE89 370 400440532013000',
  'DE89 3704 0044 0532 0130',
  'sha1 da39a3ee5e6b4b0d3255bfef95601890afd80709',
]

describe('findIbans', () => {
  test.each(IBANS)('finds %s ungrouped, grouped and in lower case', (iban) => {
    for (const separator of ['', ' ', '\u00a0', '\u202f', '-'])
      for (const form of [groupByFour(iban, separator), groupByFour(iban.toLowerCase(), separator)])
        expect(findTexts(findIbans, `to ${form} now`)).toEqual([form])
  })
  test.each(IN_CONTEXT)('finds the IBANs in %j', (text, found) => {
    expect(findTexts(findIbans, text)).toEqual(found)
  })
  test.each(NONE)('finds nothing in %j', (text) => {
    expect(findTexts(findIbans, text)).toEqual([])
  })

  it('rejects an IBAN with one digit changed', () => {
    for (const digit of '012456789') expect(findIbans(`DE89${digit}70400440532013000`)).toEqual([])
  })

  it('accepts an IBAN when only its national check digit is wrong', () => {
    expect(findTexts(findIbans, 'NO6686011117948')).toEqual(['NO6686011117948'])
  })
})
