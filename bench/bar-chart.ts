import type { Spread } from './statistics.ts'

/** One bar: its length is the median, a thin line goes from the least to the most. */
export type Bar = Spread & { label: string; note: string; isOurs: boolean }

export type Chart = { title: string; bars: Bar[] }

/** Of the whole picture, about that of a README. */
export const WIDTH = 840
const LABEL_WIDTH = 250
const NOTE_WIDTH = 110
const ROW = 24
const THICK = 16
const HEAD = 26

export const chartHeight = ({ bars }: Chart): number => HEAD + bars.length * ROW

/** Horizontal bars on one scale from 0, as a piece of SVG whose top is at `y`. */
export function barChart(chart: Chart, y: number): string {
  const longest = Math.max(...chart.bars.map(({ max }) => max))
  const scale = (WIDTH - LABEL_WIDTH - NOTE_WIDTH) / (longest || 1)
  const rows = chart.bars.map((bar, row) => drawBar(bar, y + HEAD + row * ROW, scale))
  return [text(0, y + 12, chart.title, 'title'), ...rows].join('\n')
}

function drawBar({ label, note, isOurs, median, min, max }: Bar, top: number, scale: number): string {
  const middle = top + THICK / 2
  const x = (value: number) => rounded(LABEL_WIDTH + value * scale)
  const kind = isOurs ? 'ours' : 'other'
  const width = Math.max(rounded(median * scale), 1)
  const spread =
    max > min ? `<line class="spread" x1="${x(min)}" x2="${x(max)}" y1="${middle}" y2="${middle}"/>` : ''
  return [
    text(LABEL_WIDTH - 10, middle + 4.5, label, undefined, 'end'),
    `<rect class="${kind}" x="${LABEL_WIDTH}" y="${top}" width="${width}" height="${THICK}" rx="2"/>${spread}`,
    text(x(max) + 8, middle + 4.5, note),
  ].join('\n')
}

export function text(x: number, y: number, words: string, kind?: string, anchor?: 'end'): string {
  const attributes = `${kind ? ` class="${kind}"` : ''}${anchor ? ` text-anchor="${anchor}"` : ''}`
  return `<text x="${rounded(x)}" y="${rounded(y)}"${attributes}>${escaped(words)}</text>`
}

const rounded = (value: number) => Math.round(value * 10) / 10

const escaped = (words: string) =>
  words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
