import { relative, resolve } from 'node:path'
import { DYNAMODB_ENDPOINT } from '../lib/environment.ts'
import { dataFolder } from '../local/data-folder.ts'
import type { SharedOptions } from './options.ts'

const COLUMN_GAP = '  '
const MAX_CELL_WIDTH = 60

/** Rows of cells as aligned columns below a header; without rows, the text `empty`. */
export const textTable = (header: string[], rows: string[][], empty?: string): string =>
  empty !== undefined && rows.length === 0 ? empty : alignColumns([header, ...rows]).join('\n')

export function alignColumns(rows: string[][]): string[] {
  const cells = rows.map((row) => row.map(toCell))
  const widths = (cells[0] ?? []).map((_, column) =>
    Math.max(...cells.map((row) => widthOf(row[column] ?? ''))),
  )
  return cells.map((row) =>
    row
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell)))
      .join(COLUMN_GAP)
      .trimEnd(),
  )
}

/** One line for each value, behind its label. */
export const labelled = (rows: string[][], width: number): string =>
  rows.map(([label = '', value = '']) => `${label.padEnd(width)}${toSingleLine(value)}`).join('\n')

/** Truncates to one short line without control characters, which a terminal could interpret as commands. */
export function toCell(text: string): string {
  const characters = [...toSingleLine(text)]
  return characters.length > MAX_CELL_WIDTH
    ? `${characters.slice(0, MAX_CELL_WIDTH - 1).join('')}…`
    : characters.join('')
}

export function toSingleLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim()
}

const widthOf = (text: string) => [...text].length

const TIME_UNITS = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

const timeFormat = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** Formats a timestamp relative to `now`, for example "3 minutes ago" or "in 29 days". */
export function relativeTime(timestamp: string, now: number = Date.now()): string {
  const seconds = (Date.parse(timestamp) - now) / 1000
  const unit = TIME_UNITS.find(([, length]) => Math.abs(seconds) >= length)
  if (unit) return timeFormat.format(Math.round(seconds / unit[1]), unit[0])
  return seconds < 1 ? 'just now' : timeFormat.format(Math.round(seconds), 'second')
}

/** What a command works on. Its token comes from the environment. */
type Target = Pick<SharedOptions, 'stack' | 'org'> & { url?: string | undefined }

/** A command to paste into a shell, with the same service, stack and organization as the current one. */
export function formatCommand({ stack, org, url }: Target, command: string): string {
  const target = { org, stack, url: url && shellQuote(url) }
  const options = Object.entries(target).map(([name, value]) => (value ? ` --${name} ${value}` : ''))
  return `npx agent-execution ${command}${options.join('')}`
}

/** What a command works on: a service, a stack, or the data folder. */
export function describeTarget({ stack, url }: Target): string {
  if (url || stack) return url ?? `the stack ${stack}`
  const folder = resolve(dataFolder())
  const path = relative(process.cwd(), folder)
  return process.env[DYNAMODB_ENDPOINT] || (path === '' || path.startsWith('..') ? folder : path)
}

/** Quotes an argument for a POSIX shell. */
export function shellQuote(argument: string): string {
  return /^[\w./:@%+=-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`
}
