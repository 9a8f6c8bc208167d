const ASCII_WORD = /[0-9A-Za-z]/
/** RFC 5322 `atext` without letters and digits, and the dot of `dot-atom`. */
const LOCAL_PUNCTUATION = "!#$%&'*+-/=?^_`{|}~."
const DOMAIN_PUNCTUATION = '-._'

const createAsciiTable = (punctuation: string): boolean[] =>
  Array.from({ length: 128 }, (_, code) => {
    const character = String.fromCharCode(code)
    return ASCII_WORD.test(character) || punctuation.includes(character)
  })

const LOCAL = createAsciiTable(LOCAL_PUNCTUATION)
const DOMAIN = createAsciiTable(DOMAIN_PUNCTUATION)

const UNICODE_WORD = /^[\p{L}\p{N}\p{M}]$/u
/** Scripts written without spaces: their words can directly precede or follow an address. */
const SPACELESS =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]$/u

/** The code point that contains the code unit at `index`; a lone surrogate counts as one code point. */
function characterAt(text: string, index: number): string {
  const code = text.charCodeAt(index)
  const isLow = code >= 0xdc00 && code <= 0xdfff
  const previous = isLow && index > 0 ? text.charCodeAt(index - 1) : 0
  const start = previous >= 0xd800 && previous <= 0xdbff ? index - 1 : index
  return String.fromCodePoint(text.codePointAt(start) ?? 0)
}

const isUnicodeWord = (text: string, index: number) => UNICODE_WORD.test(characterAt(text, index))

/** Whether a local part may contain the code unit: RFC 5322 `atext`, a dot, or any letter (RFC 6531). */
export function isLocalUnit(text: string, index: number): boolean {
  const code = text.charCodeAt(index)
  return code < 128 ? LOCAL[code] === true : isUnicodeWord(text, index)
}

/** Whether a domain may contain the code unit: letters, digits, `-`, `.`, and the `_` that some hosts use. */
export function isDomainUnit(text: string, index: number): boolean {
  const code = text.charCodeAt(index)
  return code < 128 ? DOMAIN[code] === true : isUnicodeWord(text, index)
}

export const isAsciiUnit = (text: string, index: number): boolean => text.charCodeAt(index) < 128

export const isSpacelessUnit = (text: string, index: number): boolean =>
  !isAsciiUnit(text, index) && SPACELESS.test(characterAt(text, index))
