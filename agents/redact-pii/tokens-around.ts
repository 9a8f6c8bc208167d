import type { Span } from './entity.ts'

/**
 * Yields the maximal runs of token characters that contain `mark` (itself a token character), in text order. Reads only
 * the text around marks, each code unit at most twice, without backtracking.
 */
export function* tokensAround(
  text: string,
  mark: string,
  isTokenUnit: (text: string, index: number) => boolean,
): Generator<Span> {
  let position = 0
  for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, position)) {
    let start = at
    while (start > position && isTokenUnit(text, start - 1)) start--
    let end = at + 1
    while (end < text.length && isTokenUnit(text, end)) end++
    yield { start, end }
    position = end
  }
}
