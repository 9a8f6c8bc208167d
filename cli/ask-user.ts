import { nextInTime, type OpenWait } from '../authoring/waits/open-waits.ts'
import type { Answer, Answers } from '../authoring/waits/run-through-waits.ts'
import { isJsonObject, type Json } from '../lib/core/json/json.ts'
import { parseJson } from '../lib/core/json/parse-json.ts'
import { formatCommand, relativeTime, toSingleLine } from './format.ts'
import type { SharedOptions } from './options.ts'
import type { LineReader } from './prompt.ts'

const MAX_DATA_CHARACTERS = 1_000

type Asking = {
  lines: LineReader
  print: (line: string) => void
  /** Once standard input is closed. */
  otherwise: Answers['answer']
}

/**
 * Asks in the terminal how the waits of a run end, one after the other: approvals first, then signals, then times. If
 * the time is to pass, the wait that it ends first has ended.
 */
export function askUser({ lines, print, otherwise }: Asking): Answers {
  return {
    isShared: true,
    onRefused: (_, { message }) => print(message),
    async answer(open, signal) {
      const [wait] = open.toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind))
      if (!wait) return []
      print(describeWait(wait))
      const { hint, read } = questionOf(wait)
      for (;;) {
        print(hint)
        const line = await lines.next(signal)
        if (line === null) return otherwise(open, signal)
        const answer = read(line.trim())
        const next = nextInTime(open)
        if (typeof answer === 'string') print(answer)
        else if (answer.kind !== 'time') return [[wait, answer]]
        else if (next) return [[next, answer]]
        else print('It has no timeout.')
      }
    },
  }
}

/** Says what a run waits for, and how others continue it; never answers. */
export const tellUser = (options: SharedOptions, print: (line: string) => void): Answers => ({
  isShared: true,
  onRefused: () => undefined,
  answer(open, signal) {
    for (const wait of open)
      for (const line of [describeWait(wait), ...commandsFor(wait, options).map((command) => `  ${command}`)])
        print(line)
    return untilAborted(signal)
  },
})

/** Never resolves. */
export const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))

const ORDER: OpenWait['kind'][] = ['approval', 'signal', 'sleep', 'retry', 'limit', 'execution']

type Question = {
  hint: string
  /** The answer, or what is wrong with the line. */
  read: (line: string) => Answer | string
}

function questionOf({ kind, signals = [], data }: OpenWait): Question {
  if (kind === 'approval')
    return {
      hint: `Approve? y, n or t (timeout), then a note or ${isJsonObject(data) ? 'the edited JSON' : 'nothing'}:`,
      read: readDecision,
    }
  if (kind !== 'signal') return { hint: 'Press Enter to let the time pass.', read: () => ({ kind: 'time' }) }
  const [first = ''] = signals
  const format = signals.length > 1 ? `a name (${signals.join(', ')}) and JSON` : 'JSON'
  return {
    hint: `Enter ${format}, or nothing for the timeout:`,
    read: (line) =>
      line === '' ? { kind: 'time' } : readSignal(signals.length > 1 ? line : `${first} ${line}`, signals),
  }
}

function readDecision(line: string): Answer | string {
  const [, key = '', rest = ''] = /^(y|yes|n|no|t|timeout)(?:\s+(.*))?$/i.exec(line) ?? []
  if (key === '') return 'Enter y, n or t.'
  if (/^t/i.test(key)) return { kind: 'time' }
  if (/^n/i.test(key)) return { kind: 'decision', decision: 'reject', ...(rest && { note: rest }) }
  const input = rest.startsWith('{') ? tryParse(rest) : undefined
  if (rest.startsWith('{') && !isJsonObject(input)) return `This is not a JSON object: ${rest}`
  return {
    kind: 'decision',
    decision: 'approve',
    ...(isJsonObject(input) ? { input } : rest && { note: rest }),
  }
}

function readSignal(line: string, names: string[]): Answer | string {
  const [, name = '', text = ''] = /^(\S+)\s*(.*)$/s.exec(line) ?? []
  if (!names.includes(name)) return `Enter one of ${names.join(', ')}, and then JSON.`
  const data = text === '' ? null : tryParse(text)
  return data === undefined ? `This is not JSON: ${text}` : { kind: 'signal', name, data }
}

function tryParse(text: string): Json | undefined {
  try {
    return parseJson(text) as Json
  } catch {
    return undefined
  }
}

/** One or two lines. */
function describeWait({ kind, name, until, title, data, signals = [] }: OpenWait): string {
  const limit = until === null ? '' : `, until ${until} (${relativeTime(until)})`
  if (kind === 'signal') return `Waits for the signal ${signals.join(' or ')}${limit}`
  if (kind !== 'approval') return `Waits: ${toSingleLine(name)}${limit}`
  const text = JSON.stringify(data)
  const shown = text.length > MAX_DATA_CHARACTERS ? `${text.slice(0, MAX_DATA_CHARACTERS)}…` : text
  return `Waits for the approval ${toSingleLine(name)}: ${toSingleLine(title ?? '')}${limit}\n  ${shown}`
}

/** Commands that end a wait from another terminal; none for a time. */
function commandsFor(
  { kind, id, signals = [], executionIds: [executionId] }: OpenWait,
  { stack }: SharedOptions,
): string[] {
  const over = stack === undefined ? '' : ' --url <base>'
  const command = (text: string) => formatCommand({}, `${text}${over}`)
  if (kind === 'approval') return ['approve', 'reject'].map((verb) => command(`${verb} ${executionId} ${id}`))
  return signals.map((name) => command(`signal ${executionId} ${name} --data <json>`))
}
