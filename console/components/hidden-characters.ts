/** Runs of tags, which spell a text that nobody sees; and every other character that is not seen or moves others. */
const HIDDEN =
  /[\u{e0020}-\u{e007e}]+|(?![\t\n])[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]/gu

/** One of them, without a position to remember. */
const ANY_HIDDEN =
  /(?![\t\n])[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb\u{e0020}-\u{e007e}]/u

/** Where they belong to the writing: variants of symbols, families of emoji, and scripts that join their letters. */
const PICTURE_BEFORE = /(?:[\p{Extended_Pictographic}\p{Emoji_Modifier}]|\ufe0f)$/u
const FLAG_BEFORE = /\u{1f3f4}$/u
const FLAG_END = '\u{e007f}'
const FLAG_TAGS = /\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{3,6}$/u
const PICTURE_AFTER = /^\p{Extended_Pictographic}/u
const JOINING =
  /[\p{sc=Arab}\p{sc=Syrc}\p{sc=Mong}\p{sc=Deva}\p{sc=Beng}\p{sc=Guru}\p{sc=Gujr}\p{sc=Orya}\p{sc=Taml}\p{sc=Telu}\p{sc=Knda}\p{sc=Mlym}\p{sc=Sinh}\p{sc=Khmr}\p{sc=Mymr}]$/u

const NAMES: Record<string, string> = {
  '00AD': 'soft hyphen',
  '061C': 'Arabic letter mark',
  '200B': 'zero-width space',
  '200C': 'zero-width non-joiner',
  '200D': 'zero-width joiner',
  '200E': 'left-to-right mark',
  '200F': 'right-to-left mark',
  '202A': 'left-to-right embedding',
  '202B': 'right-to-left embedding',
  '202C': 'pop directional formatting',
  '202D': 'left-to-right override',
  '202E': 'right-to-left override',
  '2060': 'word joiner',
  '2066': 'left-to-right isolate',
  '2067': 'right-to-left isolate',
  '2068': 'first strong isolate',
  '2069': 'pop directional isolate',
  FEFF: 'byte order mark',
}

/** A character that is not seen, with what is shown instead of it. */
export type Token = { label: string; name: string }

/** A text, with characters as tokens that are invisible or change the order of others. Line breaks and tabs stay. */
export function splitHidden(text: string): (string | Token)[] {
  const parts: (string | Token)[] = []
  let end = 0
  for (const { 0: hidden, index } of text.matchAll(HIDDEN)) {
    if (belongsToWriting(text, hidden, index)) continue
    if (index > end) parts.push(text.slice(end, index))
    parts.push(toToken(hidden))
    end = index + hidden.length
  }
  if (end < text.length) parts.push(text.slice(end))
  return parts
}

/** Whether a text may have hidden characters: a quick look. */
export const mayHide = (text: string): boolean => ANY_HIDDEN.test(text)

function belongsToWriting(text: string, hidden: string, index: number): boolean {
  const before = text.slice(Math.max(index - 2, 0), index)
  const after = text.slice(index + hidden.length, index + hidden.length + 2)
  if (hidden === '\r') return after.startsWith('\n')
  // Flags of regions: a black flag, tags, and their end.
  if (/^[\u{e0020}-\u{e007e}]+$/u.test(hidden)) return FLAG_BEFORE.test(before) && after === FLAG_END
  if (hidden === FLAG_END) return FLAG_TAGS.test(text.slice(Math.max(index - 16, 0), index))
  if (/[\ufe00-\ufe0f]/.test(hidden)) return /[^\s\p{L}]$/u.test(before)
  if (/[\u{e0100}-\u{e01ef}]/u.test(hidden)) return /\p{Ideographic}$/u.test(before)
  if (hidden !== '\u200c' && hidden !== '\u200d') return false
  return (PICTURE_BEFORE.test(before) && PICTURE_AFTER.test(after)) || JOINING.test(before)
}

function toToken(hidden: string): Token {
  const code = hidden.codePointAt(0) ?? 0
  if (code >= 0xe0020 && code <= 0xe007e) {
    const letters = Array.from(hidden, (tag) => String.fromCharCode((tag.codePointAt(0) ?? 0) - 0xe0000))
    return { label: `tags: ${letters.join('')}`, name: 'A text in invisible tag characters' }
  }
  const hex = code.toString(16).toUpperCase().padStart(4, '0')
  return {
    label: `U+${hex}`,
    name: NAMES[hex] ?? (code < 0xa0 ? 'control character' : 'invisible character'),
  }
}

/** The same for where only text is possible, such as titles: `[U+202E]`. */
export const toVisible = (text: string): string =>
  mayHide(text)
    ? splitHidden(text)
        .map((part) => (typeof part === 'string' ? part : `[${part.label}]`))
        .join('')
    : text
