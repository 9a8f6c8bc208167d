/** The number grammar of JSON (RFC 8259, section 6): no `007`, `+1`, `.5`, white space or hexadecimal. */
const NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/** ES2026: JSON.parse source text access, which TypeScript's library does not describe yet. */
const { rawJSON, isRawJSON } = JSON as unknown as {
  rawJSON: (text: string) => object
  isRawJSON: (value: unknown) => boolean
}

/** Whether `ExactNumber.toJSON` returned a value. */
export const isRawJson = (value: unknown): boolean => isRawJSON(value)

/**
 * A number of an input that a double would change, kept as it was written. `JSON.stringify` writes it unchanged. Only
 * inputs as sent contain such numbers; adaptation replaces them before an agent receives the input.
 */
export class ExactNumber {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  /** The nearest double. */
  toDouble(): number {
    return Number(this.text)
  }

  toJSON(): object {
    return rawJSON(this.text)
  }

  toString(): string {
    return this.text
  }
}

export const isNumber = (value: unknown): value is number | ExactNumber =>
  typeof value === 'number' || value instanceof ExactNumber

/** Parses a number; undefined when it would be rounded or is not a safe integer. */
export function parseNumber(text: string): number | undefined {
  const number = Number(text)
  if (Number.isInteger(number) && !Number.isSafeInteger(number)) return undefined
  return isWrittenLike(text, number) ? number : undefined
}

/**
 * Whether a double holds the value of a JSON number. An integer written without an exponent must also be safe: beyond
 * 2^53 several integers have the same double, and programs that use integers as ids must not confuse them.
 */
export function fitsDouble(text: string): boolean {
  const number = Number(text)
  if (Number.isInteger(number) && !Number.isSafeInteger(number) && !/e/i.test(text)) return false
  if (number === 0) return !/[1-9]/.test(text.split(/e/i, 1)[0] ?? '')
  return isWrittenLike(text, number)
}

/** Whether two numbers have the same value, however they are written. */
export function isSameNumber(a: number | ExactNumber, b: number | ExactNumber): boolean {
  return a === b || toCanonicalDecimal(String(a)) === toCanonicalDecimal(String(b))
}

function isWrittenLike(text: string, number: number): boolean {
  if (!Number.isFinite(number)) return false
  const written = String(number)
  if (written === text) return true
  const decimal = toCanonicalDecimal(text)
  return decimal !== undefined && decimal === toCanonicalDecimal(written)
}

/** Sign, significant digits and exponent: the same for `1.50` and `15e-1`. */
function toCanonicalDecimal(text: string): string | undefined {
  const parts = NUMBER.exec(text)
  if (!parts) return undefined
  const [, sign, whole, fraction = '', exponent = '0'] = parts
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const significant = digits.slice(0, lengthWithoutZeros(digits))
  const zeros = digits.length - significant.length
  return `${sign}${significant}e${significant === '' ? 0 : Number(exponent) - fraction.length + zeros}`
}

/** Not a regular expression: `/0+$/` takes quadratic time for many zeros before another digit. */
function lengthWithoutZeros(digits: string): number {
  let length = digits.length
  while (digits[length - 1] === '0') length -= 1
  return length
}
