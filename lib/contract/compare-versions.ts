import { diffLines } from 'diff'
import { escapeName } from '../core/json/pointer.ts'
import type { VersionDetails } from './records/agent.ts'

export type ComparedLine = { kind: 'same' | 'added' | 'removed'; text: string }

/** `instructions`: all lines of both versions in order; empty if these are equal. */
export type VersionComparison = { changes: ValueChange[]; instructions: ComparedLine[] }

/** Texts with more differences are shown as one removed and one added text: finding them takes quadratic time. */
const MAX_EDITS = 4_000

/**
 * What differs between two versions of an agent, as `GET /v1/agents/{id}/versions/{versionId}` returns them. The CLI
 * and the console show it. Paths are those of the document: `/input/text/type`, `/tools/get_order/http/url`. `/code` is
 * the hash of the code, null for a version that was stored without it.
 */
export function compareVersions(before: VersionDetails, after: VersionDetails): VersionComparison {
  return {
    changes: compareJson(toDocument(before), toDocument(after)),
    instructions:
      before.instructions === after.instructions ? [] : compareLines(before.instructions, after.instructions),
  }
}

const toDocument = (version: VersionDetails) => ({
  title: version.title,
  description: version.description,
  input: version.inputSchema,
  output: version.outputSchema,
  model: version.model,
  fallbacks: version.fallbacks ?? [],
  modelSettings: version.modelSettings ?? {},
  useDynamicLearning: version.useDynamicLearning,
  learning: version.learning ?? {},
  // By name, because a list without items is compared as a whole.
  tools: Object.fromEntries(version.tools.map((tool) => [String(tool.name), tool])),
  requireTools: version.requireTools ?? false,
  context: version.context ?? {},
  schedules: Object.fromEntries((version.schedules ?? []).map((each) => [String(each.name), each])),
  keys: Object.fromEntries(
    (version.keys ?? []).map(({ name, from, pointer }) => [name, { [from]: pointer }]),
  ),
  scorers: Object.fromEntries((version.scorers ?? []).map(({ agent, ...scorer }) => [agent, scorer])),
  env: version.env,
  execution: version.execution,
  code: version.code ? version.codeHash : false,
  remote: version.remote ?? {},
})

function compareLines(before: string, after: string): ComparedLine[] {
  const parts = diffLines(withNewline(before), withNewline(after), { maxEditLength: MAX_EDITS })
  if (!parts) return [...toLines('removed', before), ...toLines('added', after)]
  return parts.flatMap(({ value, added, removed }) =>
    toLines(added ? 'added' : removed ? 'removed' : 'same', value),
  )
}

/** Otherwise the last line would differ from the same line with more text below it. */
const withNewline = (text: string) => (text === '' || text.endsWith('\n') ? text : `${text}\n`)

const toLines = (kind: ComparedLine['kind'], text: string): ComparedLine[] =>
  text === ''
    ? []
    : text
        .replace(/\n$/, '')
        .split('\n')
        .map((line) => ({ kind, text: line }))

/** A value that differs. `path`: a JSON Pointer (RFC 6901). `before` or `after` is absent where there is none. */
export type ValueChange = { path: string; before?: unknown; after?: unknown }

type Values = Record<string, unknown>

/**
 * The differences of two JSON values, as deep as both have objects. Lists of named things, such as tools, are compared
 * by name; other lists as a whole.
 */
export function compareJson(before: unknown, after: unknown, path = ''): ValueChange[] {
  const [a, b] = [toValues(before), toValues(after)]
  if (!a || !b) return isEqual(before, after) ? [] : [{ path, ...present({ before, after }) }]
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])]
  return names.flatMap((name) =>
    compareJson(memberOf(a, name), memberOf(b, name), `${path}/${escapeName(name)}`),
  )
}

const memberOf = (values: Values, name: string): unknown =>
  Object.hasOwn(values, name) ? values[name] : undefined

/** The members of an object, or of a list whose items have different names; null for any other value. */
function toValues(value: unknown): Values | null {
  if (typeof value !== 'object' || value === null) return null
  if (!Array.isArray(value)) return value as Values
  const names = new Set(value.map((item) => (item as { name?: unknown } | null)?.name))
  const isNamed = value.length > 0 && names.size === value.length && [...names].every(isText)
  return isNamed ? Object.fromEntries(value.map((item) => [item.name, item])) : null
}

const isText = (value: unknown): boolean => typeof value === 'string'

/** Compares values of which at most one is an object. */
const isEqual = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b)

/** Without members that are undefined. */
const present = (values: { before: unknown; after: unknown }) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
