import { isCollection, isSeq, parseDocument, stringify } from 'yaml'
import { type Execution, isFinal } from '../../lib/core/execution.ts'
import { toFileName } from '../recording/recording.ts'
import { EXACT_YAML, type TestCase } from './case-file.ts'
import type { FailedCall } from './find-failures.ts'

/** Why no case can be made of an execution. The message continues "The execution …". */
export class NoCase extends Error {}

/** What else a run has met. */
export type Recorded = { failedCalls: FailedCall[]; answers: Pick<TestCase, 'approvals' | 'signals'> }

/**
 * A case with the input of an execution, as it was sent. It expects the correction if there is one, otherwise what the
 * execution did; tools whose calls failed may fail again. What the execution waited for ends as it did.
 * @throws NoCase
 */
export function caseOfExecution(
  execution: Execution,
  { failedCalls, answers }: Recorded,
  name: string | undefined,
): TestCase {
  const { id, input, feedback } = execution
  const note = feedback?.note?.split('\n', 1)[0]?.trim()
  const tools = Object.fromEntries(failedCalls.map(({ tool }) => [tool, 'may-fail' as const]))
  const expect = { ...expectationOf(execution), ...(failedCalls.length > 0 && { tools }) }
  return { name: name ?? (note || `execution ${id}`), input, ...answers, expect }
}

function expectationOf(execution: Execution): TestCase['expect'] {
  const { output, error, feedback } = execution
  if (!isFinal(execution)) throw new NoCase('is still running')
  if (feedback?.correctedOutput) return { equals: feedback.correctedOutput }
  if (error?.code === 'Cancelled') throw new NoCase('was cancelled')
  if (error) return { error: error.code }
  if (feedback?.rating === -1)
    throw new NoCase('was rated as wrong and has no corrected output: add one to its feedback')
  return { equals: output ?? {} }
}

const FORMAT = { ...EXACT_YAML, lineWidth: 0, aliasDuplicateObjects: false } as const

/**
 * Adds cases to the text of a valid `cases.yaml`. The text before them keeps its form and comments; only a list in
 * brackets is formatted again.
 */
export function appendCases(text: string, cases: TestCase[]): string {
  const document = parseDocument(text, EXACT_YAML)
  const { contents } = document
  const lines = () => cases.map((each) => stringify([each], FORMAT)).join('\n')
  if (!isCollection(contents)) return join(text, lines())
  if (isSeq(contents) && !contents.flow) return join(text, indent(lines(), columnOf(text)))
  for (const testCase of cases) document.add(document.createNode(testCase))
  return document.toString(FORMAT)
}

/** With an empty line between. */
const join = (text: string, added: string): string =>
  text.trim() === '' ? added : `${text.trimEnd()}\n\n${added}`

/** Spaces before the items of a list. */
const columnOf = (text: string): string => /^( *)-(?: |$)/m.exec(text)?.[1] ?? ''

const indent = (text: string, spaces: string): string => text.replaceAll(/^(?=.)/gm, spaces)

/** The names of cases, each with a recording of its own. */
export class CaseNames {
  private readonly used = new Set<string>()

  constructor(names: string[]) {
    for (const name of names) this.use(name)
  }

  /** The name, with the id if it, or the file of its recording, belongs to another case. */
  add(name: string, id: string): string {
    const isFree = keysOf(name).every((key) => !this.used.has(key))
    return this.use(isFree ? name : `${name.slice(0, MAX_NAME)} (${id})`)
  }

  private use(name: string): string {
    for (const key of keysOf(name)) this.used.add(key)
    return name
  }
}

const keysOf = (name: string): string[] => [name, `${toFileName(name)}.yaml`].filter((key) => key !== '.yaml')

/** With an id, a name has at most 200 characters. */
const MAX_NAME = 150
