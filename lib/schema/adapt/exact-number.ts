/** JSON's own grammar of numbers (RFC 8259, section 6): no `007`, `+1`, `.5`, blanks or hexadecimal. */
const NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/** The number that a text writes, when it is one to the last digit: neither rounded nor beyond the safe integers. */
export function exactNumber(text: string): number | undefined {
  const number = Number(text)
  if (!Number.isFinite(number) || (Number.isInteger(number) && !Number.isSafeInteger(number)))
    return undefined
  const written = decimal(text)
  return written !== undefined && written === decimal(String(number)) ? number : undefined
}

/** Sign, digits and exponent of a number's text, the same for each way of writing it: 1.50, 15e-1. */
function decimal(text: string): string | undefined {
  const parts = NUMBER.exec(text)
  if (!parts) return undefined
  const [, sign, whole, fraction = '', exponent = '0'] = parts
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  const zeros = digits.length - significant.length
  return `${sign}${significant}e${significant === '' ? 0 : Number(exponent) - fraction.length + zeros}`
}
