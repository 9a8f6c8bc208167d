import { diffLines } from 'diff'
import type { VersionDetails } from '../schemas/agent-record.ts'
import { compareJson, type ValueChange } from './compare-json.ts'

export type ComparedLine = { kind: 'same' | 'added' | 'removed'; text: string }

/** `instructions`: all lines of both versions in order; empty if these are equal. */
export type VersionComparison = { changes: ValueChange[]; instructions: ComparedLine[] }

/** Texts with more differences are shown as one removed and one added text: finding them takes quadratic time. */
const MAX_EDITS = 4_000

/**
 * What differs between two versions of an agent, as `GET /v1/agents/{id}/versions/{versionId}` returns them. The CLI and the
 * console show it. Paths are those of the document: `/input/text/type`, `/tools/get_order/http/url`. `/code` is the hash of the
 * code, null for a version that was stored without it.
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
  modelSettings: version.modelSettings ?? {},
  learning: version.learning ?? {},
  // By name, because a list without items is compared as a whole.
  tools: Object.fromEntries(version.tools.map((tool) => [String(tool.name), tool])),
  env: version.env,
  execution: version.execution,
  code: version.code ? version.codeHash : false,
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
