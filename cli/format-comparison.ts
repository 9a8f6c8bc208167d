import type { ValueChange } from '../lib/api/comparison/compare-json.ts'
import type { ComparedLine, VersionComparison } from '../lib/api/comparison/compare-versions.ts'
import type { Agent, Version } from '../lib/core/agent.ts'
import { relativeTime } from './format.ts'

/** Lines around a change that are shown. */
const CONTEXT_LINES = 3
const MAX_VALUE_CHARACTERS = 200

/** Text like that of a unified diff: `-` and `+` mark what only the first and only the second version has. */
export function describeComparison(
  { slug }: Agent,
  before: Version,
  after: Version,
  { changes, instructions }: VersionComparison,
): string {
  const sections = [
    ...changes.map(describeChange),
    ...(instructions.length > 0 ? [['/instructions', ...describeLines(instructions)]] : []),
  ]
  const body = sections.length === 0 ? [['The versions have the same content.']] : sections
  return [`${slug}:`, `- ${describeVersion(before)}`, `+ ${describeVersion(after)}`, '', ...body.flat()].join(
    '\n',
  )
}

const describeVersion = ({ id, status, createdAt, message }: Version): string =>
  `${id}, ${status.toLowerCase()}, created ${relativeTime(createdAt)}${message ? `: ${printable(message)}` : ''}`

function describeChange({ path, ...values }: ValueChange): string[] {
  const lines = [printable(path)]
  if ('before' in values) lines.push(`- ${toText(values.before)}`)
  if ('after' in values) lines.push(`+ ${toText(values.after)}`)
  return lines
}

function toText(value: unknown): string {
  const text = printable(JSON.stringify(value) ?? 'none')
  return text.length > MAX_VALUE_CHARACTERS ? `${text.slice(0, MAX_VALUE_CHARACTERS)}…` : text
}

/** Leaves out lines that are far from a change. */
function describeLines(lines: ComparedLine[]): string[] {
  const changed = lines.flatMap(({ kind }, index) => (kind === 'same' ? [] : [index]))
  const shown = new Set(
    changed.flatMap((index) =>
      Array.from({ length: 2 * CONTEXT_LINES + 1 }, (_, offset) => index + offset - CONTEXT_LINES),
    ),
  )
  return lines.flatMap(({ kind, text }, index) => {
    if (!shown.has(index)) return index === 0 || shown.has(index - 1) ? ['  …'] : []
    return `${{ same: ' ', added: '+', removed: '-' }[kind]} ${printable(text)}`
  })
}

/** Without control characters, which a terminal could interpret as commands. */
const printable = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ')
