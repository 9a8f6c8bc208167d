import type { Span } from './entity.ts'

/**
 * The maximal runs of token characters that contain `mark` (itself a token character), in order. Only the
 * surroundings of marks are read, each code unit at most twice, whatever the text: no backtracking.
 */
export function* tokensAround(
  text: string,
  mark: string,
  isTokenUnit: (text: string, index: number) => boolean,
): Generator<Span> {
  let read = 0
  for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, read)) {
    let start = at
    while (start > read && isTokenUnit(text, start - 1)) start--
    let end = at + 1
    while (end < text.length && isTokenUnit(text, end)) end++
    yield { start, end }
    read = end
  }
}
