/** From 1. Columns count UTF-16 code units. */
export type TextPosition = { line: number; column: number }

/** Finds the lines of offsets in a text. Lines end with `\n`. */
export class LineIndex {
  private readonly starts: number[] = [0]

  constructor(text: string) {
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.starts.push(at + 1)
  }

  get count(): number {
    return this.starts.length
  }

  positionOf(offset: number): TextPosition {
    let low = 0
    let high = this.starts.length
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((this.starts[middle] ?? 0) <= offset) low = middle
      else high = middle
    }
    return { line: low + 1, column: offset - (this.starts[low] ?? 0) + 1 }
  }
}
