export const HAS_ESCAPE = /[%\\&]/

/** Bytes in a URL (RFC 3986, section 2.1), escapes of JSON (RFC 8259, section 7), and references of HTML. */
const ESCAPE =
  /(?:%[0-9a-f]{2})+|\\u([0-9a-f]{4})|\\(["\\/bfnrt])|&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(amp|lt|gt|quot|apos));/gi
const JSON_ESCAPES: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }
const HTML_NAMES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** The text without escapes. `places`: where each of its characters, and its end, is in the given text. */
export function decodeEscapes(text: string): { decoded: string; places: number[] } {
  let [decoded, position] = ['', 0]
  const places: number[] = []
  const add = (characters: string, start: number) => {
    for (let index = 0; index < characters.length; index++) places.push(start)
    decoded += characters
  }
  const copy = (end: number) => {
    for (; position < end; position++) add(text[position] ?? '', position)
  }
  for (const match of text.matchAll(ESCAPE)) {
    copy(match.index)
    const [sequence, unicode, json = '', decimal, hexadecimal, html = ''] = match
    const code = unicode ? Number.parseInt(unicode, 16) : decimal ? Number(decimal) : hexadecimal
    if (sequence.startsWith('%')) {
      // U+FFFD for bytes that are not UTF-8.
      for (const character of Buffer.from(sequence.replaceAll('%', ''), 'hex').toString()) {
        add(character, position)
        position += 3 * Buffer.byteLength(character)
      }
    } else if (code !== undefined) {
      const point = typeof code === 'string' ? Number.parseInt(code, 16) : code
      add(point <= MAX_CODE_POINT ? String.fromCodePoint(point) : sequence, position)
    } else add(JSON_ESCAPES[json] ?? (json || HTML_NAMES[html.toLowerCase()] || sequence), position)
    position = match.index + sequence.length
  }
  copy(text.length)
  places.push(text.length)
  return { decoded, places }
}

const MAX_CODE_POINT = 0x10_ff_ff
