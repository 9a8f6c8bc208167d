import { isJsonObject, type Json } from '../../lib/core/json/json.ts'
import { type Recording, runsOf, stepsOf } from '../recording/recording.ts'
import type { TestCase } from './case-file.ts'

/** The names of the fields that test cases and their recordings contain, as paths such as `customer.tags[]`. */
export type SentFields = {
  input: string[]
  /** What the case expects, and the responses of the model to which it is a correction. */
  output: string[]
  /** By name, with those of called agents. */
  tools: Record<string, { arguments: string[]; result: string[] }>
  /** MCP tools whose declarations are recorded, as the document names them. */
  declarations: string[]
  approvals: string[]
  signals: string[]
}

/** What is deeper is named by the path above it. */
const MAX_DEPTH = 6
const TEXT = '(text)'

type Added = { testCase: TestCase; recording: Recording | null }

export function findSentFields(added: Added[]): SentFields {
  const runs = added.flatMap(({ recording }) => recording?.run ?? [])
  const calls = runs.flatMap(stepsOf).flatMap((step) => step.calls)
  const outputs = [
    ...added.flatMap(({ testCase }) => testCase.expect.equals ?? []),
    ...added.flatMap(({ recording }) =>
      recording?.corrected && 'output' in recording.corrected ? recording.corrected.output : [],
    ),
  ]
  const tools = [...new Set(calls.map(({ name }) => name))].sort().map((name) => {
    const made = calls.filter((call) => call.name === name)
    const results = made.flatMap(({ result }) => result ?? [])
    const given = made.flatMap(({ input, approved }) =>
      approved === undefined ? [input] : [input, approved],
    )
    const result = pathsOf(results.map((each) => (each.ok ? each.value : each.error)))
    const hasImages = results.some((each) => each.ok && each.images)
    return [name, { arguments: pathsOf(given), result: hasImages ? [...result, '(images)'] : result }]
  })
  return {
    input: pathsOf(added.map(({ testCase }) => testCase.input)),
    output: pathsOf(outputs),
    tools: Object.fromEntries(tools),
    declarations: keysOf(runs.flatMap(runsOf).map((run) => run.declarations)),
    approvals: keysOf(added.map(({ testCase }) => testCase.approvals)),
    signals: keysOf(added.map(({ testCase }) => testCase.signals)),
  }
}

const keysOf = (objects: (object | undefined)[]): string[] =>
  [...new Set(objects.flatMap((each) => Object.keys(each ?? {})))].sort()

const pathsOf = (values: Json[]): string[] =>
  [...new Set(values.flatMap((value) => leavesOf(value, '', MAX_DEPTH)))].sort()

function leavesOf(value: Json, path: string, depth: number): string[] {
  if (depth > 0 && Array.isArray(value) && value.length > 0)
    return value.flatMap((item) => leavesOf(item, `${path}[]`, depth - 1))
  if (depth > 0 && isJsonObject(value) && Object.keys(value).length > 0)
    return Object.entries(value).flatMap(([name, member]) =>
      leavesOf(member, path === '' ? name : `${path}.${name}`, depth - 1),
    )
  return [path === '' ? TEXT : path]
}
