import type { Json } from '../../core/json.ts'

/** The number grammar of JSON (RFC 8259, section 6): no `007`, `+1`, `.5`, white space or hexadecimal. */
const NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|[a-z]+|[[\]{}]/g

/** Parses a number; undefined when it would be rounded or is not a safe integer. */
export function parseNumber(text: string): number | undefined {
  const number = Number(text)
  if (!Number.isFinite(number) || (Number.isInteger(number) && !Number.isSafeInteger(number)))
    return undefined
  const written = toCanonicalDecimal(text)
  return written !== undefined && written === toCanonicalDecimal(String(number)) ? number : undefined
}

/**
 * Parses a JSON text that starts with `bracket`; undefined when it is invalid or when parsing would lose a duplicate
 * field or digits of a number.
 */
export function parseJson(text: string, bracket: '[' | '{'): Json | undefined {
  if (!text.trimStart().startsWith(bracket)) return undefined
  try {
    const value = JSON.parse(text) as Json
    const tokens = text.match(TOKENS) ?? []
    const tokensKept = JSON.stringify(value).match(TOKENS) ?? []
    const isLossless =
      tokens.length === tokensKept.length &&
      tokens.every((token) => !/^[-\d]/.test(token) || parseNumber(token) !== undefined)
    return isLossless ? value : undefined
  } catch {
    return undefined
  }
}

/** Sign, significant digits and exponent: the same for `1.50` and `15e-1`. */
function toCanonicalDecimal(text: string): string | undefined {
  const parts = NUMBER.exec(text)
  if (!parts) return undefined
  const [, sign, whole, fraction = '', exponent = '0'] = parts
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  const zeros = digits.length - significant.length
  return `${sign}${significant}e${significant === '' ? 0 : Number(exponent) - fraction.length + zeros}`
}
