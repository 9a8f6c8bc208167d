import type { ExecutionRecord } from '../../lib/contract/records/execution.ts'
import type { StepRecord } from '../../lib/contract/records/step.ts'
import { emptyObject, textNode, valueNode } from '../schema/json-edit.ts'
import { type JsonNode, parseJsonTree } from '../schema/json-node.ts'
import { toYaml } from './to-yaml.ts'

/** What the case expects: the output as it was, or only that the run succeeds. */
export type Expected = 'output' | 'success'

type Params = {
  name: string
  /** JSON text, so that numbers stay as they were typed. */
  input: string
  run: Pick<ExecutionRecord, 'id' | 'output' | 'error' | 'feedback'>
  steps: readonly Pick<StepRecord, 'toolCalls'>[]
  expected: Expected
}

/** An entry of `cases.yaml` (docs/authoring.md). @throws JsonSyntaxError if the input is not JSON */
export function toTestCase({ name, input, run, steps, expected }: Params): string {
  const fields = {
    name: textNode(toCaseName(name) || `execution ${run.id}`),
    input: parseJsonTree(input),
    ...(expected === 'output' && { approvals: approvalsOf(steps) }),
    expect: expectationOf(run, steps, expected),
  }
  const item: JsonNode = { type: 'array', items: [objectOf(fields)], start: 0, end: 0 }
  return `${toYaml(item)}\n`
}

/** The limit of `authoring/cases/case-file.ts`. */
const MAX_NAME = 200

/** One line without control characters. */
export const toCaseName = (name: string): string =>
  name
    .toWellFormed()
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, MAX_NAME)
    .replace(/[\uD800-\uDBFF]$/, '')
    .trim()

/** Whether the run has a result that a case can expect. */
export const hasExpectation = ({ error }: Params['run']): boolean => error?.code !== 'Cancelled'

function expectationOf(run: Params['run'], steps: Params['steps'], expected: Expected): JsonNode | undefined {
  if (!hasExpectation(run) || expected === 'success') return undefined
  if (run.error) return objectOf({ error: textNode(run.error.code) })
  const failed = calls(steps).filter(({ error }) => error !== undefined)
  return objectOf({
    equals: valueNode(run.feedback?.correctedOutput ?? run.output ?? {}),
    tools: failed.length > 0 ? entries(failed.map(({ name }) => [name, textNode('may-fail')])) : undefined,
  })
}

/** Decisions on tool calls, in order, by the name of the tool. */
function approvalsOf(steps: Params['steps']): JsonNode | undefined {
  const decided = calls(steps).filter(({ approval }) => approval?.decision !== undefined)
  if (decided.length === 0) return undefined
  const groups = [...Map.groupBy(decided, ({ name }) => name)].map(([name, group]): [string, JsonNode] => [
    name,
    valueNode(
      group.map(({ approval }) => ({
        decision: approval?.decision,
        ...(approval?.note && { note: approval.note }),
        ...(approval?.input && { input: approval.input }),
      })),
    ),
  ])
  return entries(groups)
}

const calls = (steps: Params['steps']) => steps.flatMap(({ toolCalls = [] }) => toolCalls)

const objectOf = (fields: Record<string, JsonNode | undefined>): JsonNode =>
  entries(Object.entries(fields).flatMap(([name, value]) => (value ? [[name, value] as const] : [])))

const entries = (members: readonly (readonly [string, JsonNode])[]): JsonNode => ({
  ...emptyObject(),
  type: 'object',
  members: members.map(([name, value]) => ({ name, nameStart: 0, value })),
})
