import { RE2JS } from 're2js'

/** White space of ECMAScript (`\s`): more characters than RE2's. */
const SPACE =
  '\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}'
const NOT_SPACE =
  '\\x00-\\x08\\x0e-\\x1f!-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}'

const ESCAPE = /\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[a-zA-Z]|.)/su
const CLASS = /\[\^?(?:\\.|[^\\\]])*\]/su
const PART = new RegExp(`${CLASS.source}|${ESCAPE.source}|\\.`, 'gsu')
const PART_OF_CLASS = new RegExp(`${ESCAPE.source}|\\[`, 'gsu')

/**
 * RE2 (https://github.com/google/re2) matches in linear time, at the price of look-around and back-references.
 * @throws Error for a pattern that it does not support
 */
export function compileRe2(pattern: string): (text: string) => boolean {
  const expression = RE2JS.compile(toRe2(pattern))
  return (text) => expression.test(text)
}

/** Translates a regular expression of ECMAScript (flag `u`) to the syntax of RE2, where the two differ. */
function toRe2(pattern: string): string {
  return pattern.replace(PART, (part) => {
    if (TRANSLATIONS[part]) return TRANSLATIONS[part]
    if (!part.startsWith('[')) return toRe2Escape(part)
    const rest = part.slice(1).replace(PART_OF_CLASS, (inner) => IN_CLASS[inner] ?? toRe2Escape(inner))
    return `[${rest}`
  })
}

const TRANSLATIONS: Record<string, string> = {
  '.': '[^\\n\\r\\x{2028}\\x{2029}]',
  '\\s': `[${SPACE}]`,
  '\\S': `[${NOT_SPACE}]`,
  '[]': '[^\\x00-\\x{10ffff}]',
  '[^]': '[\\x00-\\x{10ffff}]',
}

const IN_CLASS: Record<string, string> = {
  '[': '\\[',
  '\\s': SPACE,
  '\\S': NOT_SPACE,
  '\\b': '\\x08',
}

function toRe2Escape(sequence: string): string {
  if (sequence === '\\0') return '\\x00'
  if (sequence.startsWith('\\u')) return `\\x{${sequence.slice(2).replace(/[{}]/g, '')}}`
  if (sequence.startsWith('\\c')) return `\\x{${((sequence.codePointAt(2) ?? 0) % 32).toString(16)}}`
  const property = /^\\([pP])\{(?:General_Category|gc|Script|sc)=(.*)\}$/.exec(sequence)
  return property ? `\\${property[1]}{${property[2]}}` : sequence
}
