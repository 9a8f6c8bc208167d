import { parseNumber } from '../../../core/exact-number.ts'

const COMMA_GROUPS = /^-?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?$/
const DOT_GROUPS = /^-?[1-9]\d{0,2}(?:\.\d{3})+(?:,\d+)?$/
const SPACE_GROUPS = /^-?[1-9]\d{0,2}(?:[ \u{a0}\u{2009}\u{202f}'’]\d{3})+(?:[.,]\d+)?$/u
const DECIMAL_COMMA = /^-?(?:0|[1-9]\d*),\d+$/

/** Longer texts are no numbers that a person or a spreadsheet writes. */
const MAX_CHARACTERS = 64

/**
 * Parses a number as JSON writes it, or with separators between groups of three digits or a decimal comma. A single
 * comma before three digits (`1,200`) separates groups only if the number must be an integer: it could be decimal.
 * @returns undefined when the text has no or several readings, or when a double would change its value
 */
export function parseNumberText(text: string, isInteger: boolean): number | undefined {
  const trimmed = text.trim()
  const plain = parseNumber(trimmed) ?? parseSeparated(trimmed, isInteger)
  return plain === undefined || (isInteger && !Number.isInteger(plain)) ? undefined : plain
}

function parseSeparated(text: string, isInteger: boolean): number | undefined {
  if (text.length > MAX_CHARACTERS) return undefined
  if (COMMA_GROUPS.test(text)) {
    const isCertain = isInteger || text.includes('.') || text.indexOf(',') !== text.lastIndexOf(',')
    return isCertain ? parseNumber(text.replaceAll(',', '')) : undefined
  }
  if (DOT_GROUPS.test(text)) {
    const isCertain = text.includes(',') || text.indexOf('.') !== text.lastIndexOf('.')
    return isCertain ? parseNumber(text.replaceAll('.', '').replace(',', '.')) : undefined
  }
  if (SPACE_GROUPS.test(text)) return parseNumber(text.replace(/[^\d.,-]/g, '').replace(',', '.'))
  return DECIMAL_COMMA.test(text) ? parseNumber(text.replace(',', '.')) : undefined
}
