import type { ExecutionRecord } from '../../lib/contract/records/execution.ts'
import type { StepRecord } from '../../lib/contract/records/step.ts'
import { emptyObject, printJson, textNode, valueNode } from '../schema/json-edit.ts'
import { type JsonNode, parseJsonTree } from '../schema/json-node.ts'

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

export const toCaseName = (name: string): string =>
  name
    .toWellFormed()
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, MAX_NAME)
    .replace(/[\uD800-\uDBFF]$/, '')
    .trim()

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

/**
 * A value as YAML 1.2 in block style. Texts are in double quotes with the escapes of JSON unless they are plain beyond
 * doubt, so that every reader gets the same value. Numbers are written as they were typed.
 * @param indent spaces before each line
 */
function toYaml(node: JsonNode, indent = ''): string {
  if (node.type === 'object' && node.members.length > 0)
    return membersOf(node)
      .map(([name, value]) => `${indent}${toKey(name, indent)}${toValue(value, indent)}`)
      .join('\n')
  if (node.type === 'array' && node.items.length > 0)
    return node.items.map((item) => toItem(item, indent)).join('\n')
  return `${indent}${toScalar(node, indent)}`
}

/** The last one of members with the same name, as in `JSON.parse`: YAML allows only one. */
const membersOf = ({ members }: Extract<JsonNode, { type: 'object' }>): [string, JsonNode][] => [
  ...new Map(members.map(({ name, value }) => [name, value])),
]

const isBlock = (node: JsonNode): boolean =>
  (node.type === 'object' && node.members.length > 0) || (node.type === 'array' && node.items.length > 0)

/** What follows a key. */
const toValue = (node: JsonNode, indent: string): string =>
  isBlock(node) ? `\n${toYaml(node, `${indent}  `)}` : ` ${toScalar(node, indent)}`

/** The first line of a nested block is that of its dash. */
function toItem(node: JsonNode, indent: string): string {
  const inner = `${indent}  `
  return isBlock(node)
    ? `${indent}- ${toYaml(node, inner).slice(inner.length)}`
    : `${indent}- ${toScalar(node, indent)}`
}

/** YAML allows at most 1,024 characters before a colon on the same line. */
const MAX_KEY = 1_000

function toKey(name: string, indent: string): string {
  const key = isPlain(name) ? name : quote(name)
  return key.length <= MAX_KEY ? `${key}:` : `? ${key}\n${indent}:`
}

/** YAML writes empty containers, numbers and literals like JSON. */
const toScalar = (node: JsonNode, indent: string): string =>
  node.type === 'string' ? toText(node.value, indent) : printJson(node, null)

function toText(text: string, indent: string): string {
  if (isPlain(text)) return text
  return isLiteral(text) ? toLiteralBlock(text, `${indent}  `) : quote(text)
}

/** Words. What other readers take for a boolean, null or a number is none: those need quotes. */
const isPlain = (text: string): boolean =>
  /^[A-Za-z_][\w-]*(?: [\w-]+)*$/.test(text) &&
  text.length <= 120 &&
  !/^(?:true|false|null|yes|no|on|off|y|n|nan|inf)$/i.test(text)

/** Lines that a block keeps as they are: printable, without spaces at their beginning or end. */
const isLiteral = (text: string): boolean =>
  text.includes('\n') &&
  /^[^\s](?:.*[^\s])?(?:\n(?:[^\n]*[^\s])?)*\n?$/.test(text) &&
  !text.endsWith('\n\n') &&
  text.isWellFormed() &&
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for.
  !/[\x00-\x09\x0b-\x1f\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff]|\n\n$/.test(text)

function toLiteralBlock(text: string, indent: string): string {
  const end = text.endsWith('\n')
  const lines = (end ? text.slice(0, -1) : text).split('\n')
  return `${end ? '|' : '|-'}\n${lines.map((line) => (line === '' ? '' : indent + line)).join('\n')}`
}

/** The escapes that `JSON.stringify` writes mean the same in YAML. Others are for characters that it ends lines by. */
const quote = (text: string): string =>
  JSON.stringify(text).replace(
    /[\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
