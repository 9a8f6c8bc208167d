const GAP = '  '
const MAX_WIDTH = 60

/** Rows of cells as aligned lines, under a header. */
export function textTable(header: string[], rows: string[][]): string {
  return alignedLines([header, ...rows]).join('\n')
}

/** Each row as a line whose cells begin where those of the other rows do. */
export function alignedLines(rows: string[][]): string[] {
  const cells = rows.map((row) => row.map(plain))
  const widths = (cells[0] ?? []).map((_, column) =>
    Math.max(...cells.map((row) => widthOf(row[column] ?? ''))),
  )
  return cells.map((row) =>
    row
      .map((cell, i) => cell + ' '.repeat((widths[i] ?? 0) - widthOf(cell)))
      .join(GAP)
      .trimEnd(),
  )
}

/** One short line with nothing in it that a terminal would take as a command. */
export function plain(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim()
  const characters = [...line]
  return characters.length > MAX_WIDTH ? `${characters.slice(0, MAX_WIDTH - 1).join('')}…` : line
}

const widthOf = (text: string) => [...text].length
