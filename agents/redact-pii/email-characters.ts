const ASCII_WORD = /[0-9A-Za-z]/
/** RFC 5322 `atext` without letters and digits, and the dot of `dot-atom`. */
const LOCAL_PUNCTUATION = "!#$%&'*+-/=?^_`{|}~."
const DOMAIN_PUNCTUATION = '-._'

const tableOf = (punctuation: string): boolean[] =>
  Array.from({ length: 128 }, (_, code) => {
    const character = String.fromCharCode(code)
    return ASCII_WORD.test(character) || punctuation.includes(character)
  })

const LOCAL = tableOf(LOCAL_PUNCTUATION)
const DOMAIN = tableOf(DOMAIN_PUNCTUATION)

const UNICODE_WORD = /^[\p{L}\p{N}\p{M}]$/u
/** Scripts written without spaces: their words touch an address that stands in the sentence. */
const SPACELESS =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]$/u

/** The whole character that the code unit at `index` belongs to; a lone surrogate is one by itself. */
function characterAt(text: string, index: number): string {
  const code = text.charCodeAt(index)
  const isLow = code >= 0xdc00 && code <= 0xdfff
  const previous = isLow && index > 0 ? text.charCodeAt(index - 1) : 0
  const start = previous >= 0xd800 && previous <= 0xdbff ? index - 1 : index
  return String.fromCodePoint(text.codePointAt(start) ?? 0)
}

const isUnicodeWord = (text: string, index: number) => UNICODE_WORD.test(characterAt(text, index))

/** Whether the code unit may stand in a local part: RFC 5322 `atext`, a dot, or any letter (RFC 6531). */
export function isLocalUnit(text: string, index: number): boolean {
  const code = text.charCodeAt(index)
  return code < 128 ? LOCAL[code] === true : isUnicodeWord(text, index)
}

/** Whether the code unit may stand in a domain: letters, digits, `-`, `.`, and the `_` that hosts do use. */
export function isDomainUnit(text: string, index: number): boolean {
  const code = text.charCodeAt(index)
  return code < 128 ? DOMAIN[code] === true : isUnicodeWord(text, index)
}

export const isAsciiUnit = (text: string, index: number): boolean => text.charCodeAt(index) < 128

export const isSpacelessUnit = (text: string, index: number): boolean =>
  !isAsciiUnit(text, index) && SPACELESS.test(characterAt(text, index))
