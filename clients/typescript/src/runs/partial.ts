/** An output that is not complete: members and items can be missing at the end, and texts can be cut. */
export type DeepPartial<T> = T extends string
  ? string
  : T extends readonly (infer Item)[]
    ? DeepPartial<Item>[]
    : T extends object
      ? { [Name in keyof T]?: DeepPartial<T[Name]> }
      : T

/** A string ends at its quote, or before an escape that is not complete. */
const TOKEN = /\s+|[{}[\],:]|"(?:[^"\\]|\\u[\da-f]{4}|\\[^u])*("?)|[^\s{}[\],:"]+/giy

/**
 * Reads the beginning of the JSON of an object: with each value that is complete, and the beginning of a text.
 * Undefined for anything else.
 */
export function parsePartial(text: string, parse: (text: string) => unknown): object | undefined {
  const open: string[] = []
  let isName = false
  /** Up to here, the text is valid JSON if `tail` follows. */
  let [end, tail] = [0, '']
  const closeAt = (index: number, quote = '') => {
    end = index
    tail = quote + [...open].reverse().join('')
  }
  const begin = text.search(/\S/)
  if (text[begin] !== '{') return undefined
  TOKEN.lastIndex = begin
  for (let match = TOKEN.exec(text); match; match = TOKEN.exec(text)) {
    const [token, quote] = match
    const next = TOKEN.lastIndex
    if (token === '{' || token === '[') {
      open.push(token === '{' ? '}' : ']')
      isName = token === '{'
      closeAt(next)
    } else if (token === '}' || token === ']') {
      open.pop()
      closeAt(next)
    } else if (token === ',') isName = open.at(-1) === '}'
    else if (token === ':') isName = false
    else if (token.startsWith('"')) {
      if (!isName) closeAt(next, quote ? '' : '"')
      // A number can go on.
    } else if (token.trim() !== '' && next < text.length) closeAt(next)
  }
  try {
    return parse(text.slice(begin, end) + tail) as object
  } catch {
    return undefined
  }
}
