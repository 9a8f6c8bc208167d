import type { TrialItemRecord } from './records/trial-item.ts'
import {
  describeGate,
  describeSettings,
  listMeasures,
  listScores,
  listVerdicts,
  MEASURE_HEADER,
  type Outcome,
  SCORE_HEADER,
  toDollars,
  toText,
} from './trial-outcome.ts'

/** GitHub accepts 65,536 characters in a comment, GitLab far more. */
const MAX_BYTES = 60_000

/**
 * Markdown for a pull request. Values are those of runs: whatever they contain is shown as it is, and never is a link,
 * a mention or HTML.
 * @param command how to see all of them
 */
export function toReport(outcome: Outcome, command: string): string {
  const { trial, slug, gate, unmet, items } = outcome
  const { sums, error } = trial
  const [verdictOfGate = '', ...reasons] = describeGate({ gate, unmet }).split('\n')
  const head = [
    `## Trial of ${toCode(slug)}`,
    `**${verdictOfGate}**`,
    ...(reasons.length > 0 ? [reasons.map((reason) => `- ${reason.trim()}`).join('\n')] : []),
    `Version ${toCode(trial.versionId)}, trial ${toCode(trial.id)}: ${trial.lines} executions, ${toDollars(trial.costUsd)}.`,
    ...describeSettings(trial).map(([name, value]) => `${name}: ${toCode(value)}`),
    ...(error ? [`Stopped: ${toCode(`${error.code}: ${error.message}`)}`] : []),
    toTable(['verdict', 'runs'], listVerdicts(trial)),
    ...(sums ? [toTable(['', ...MEASURE_HEADER.map((name) => name.toLowerCase())], listMeasures(sums))] : []),
    ...(sums?.scores
      ? [
          toTable(
            SCORE_HEADER.map((name) => name.toLowerCase()),
            listScores(sums),
          ),
        ]
      : []),
  ].join('\n\n')
  return items.length === 0
    ? `${head}\n`
    : `${head}\n\n${listItems(items, MAX_BYTES - bytesOf(head), command)}`
}

const HEADER = ['verdict', 'original', 'trial', 'pointer', 'was', 'is']

/** As many as there is room for. */
function listItems(items: TrialItemRecord[], maxBytes: number, command: string): string {
  const start = `### Differences\n\n${toTable(HEADER, [])}\n`
  const rest = `\nThere are more: ${toCode(command)}\n`
  let text = start
  for (const row of items.flatMap(toRows)) {
    if (bytesOf(text) + bytesOf(row) + bytesOf(rest) > maxBytes) return text + rest
    text += `${row}\n`
  }
  return text
}

function toRows({
  verdict,
  originalExecutionId,
  executionId,
  differences,
  error,
}: TrialItemRecord): string[] {
  const ids = [verdict ?? '', toCode(originalExecutionId), executionId === null ? '' : toCode(executionId)]
  if (error) return [toRow([...ids, '', '', toCode(`${error.code}: ${error.message}`)])]
  return differences.map((each) => {
    const values = (['original', 'trial'] as const).map((side) => toCode(toText(each, side)))
    return toRow([...ids, toCode(each.path), ...values])
  })
}

const toTable = (header: string[], rows: string[][]): string =>
  [toRow(header), toRow(header.map(() => '---')), ...rows.map(toRow)].join('\n')

const toRow = (cells: string[]): string => `| ${cells.join(' | ')} |`

/** Longer texts are cut: an error may quote a whole response. */
const MAX_CODE = 300

function toCode(text: string): string {
  const characters = [...text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')]
  const cut = characters.length > MAX_CODE ? [...characters.slice(0, MAX_CODE), '…'] : characters
  return cut.length === 0 ? '' : `<code>${escaped(cut.join(''))}</code>`
}

/** What could be syntax of Markdown or HTML, or of links, mentions, references and formulas of forges. */
const SYNTAX = /[&<>|\\`*_[\]#@!~$^:]|(?<=www)\./gi

/** A character reference is never syntax (CommonMark, section 2.5). */
const escaped = (text: string): string =>
  text.replaceAll(SYNTAX, (character) => `&#${character.charCodeAt(0)};`)

const encoder = new TextEncoder()

const bytesOf = (text: string): number => encoder.encode(text).length
