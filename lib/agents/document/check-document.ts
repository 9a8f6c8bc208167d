import { hasUnpairedSurrogate } from '../../core/json.ts'
import type { AgentDocument } from './document.ts'
import { findBudgetProblem } from './find-budget-problem.ts'
import { type DocumentProblem, parseDocument } from './parse-document.ts'
import { START } from './yaml-file.ts'

/**
 * Bytes of an `agent.md`, also with its YAML aliases expanded. The agent item stores the document twice, and a DynamoDB
 * item can have 400 KB.
 */
const MAX_DOCUMENT_BYTES = 150_000

/** `field` is null if the problem is not one of a field. */
export type CheckedProblem = Omit<DocumentProblem, 'field'> & { field: string | null }

export type CheckedDocument =
  | { document: AgentDocument; problems: [] }
  | { document: null; problems: CheckedProblem[] }

/** Where the document comes from, and whether code comes with it. */
export type DocumentSource = {
  /** The slug of a document without one; null if there is none. */
  defaultSlug: string | null
  hasCode: boolean
  /** Completes "code is true, but …". */
  withoutCode: string
  /** Completes "code must be true because …". */
  withCode: string
}

/** Parses an `agent.md` and checks everything that does not need its code. */
export async function checkDocument(text: string, source: DocumentSource): Promise<CheckedDocument> {
  if (Buffer.byteLength(text) > MAX_DOCUMENT_BYTES)
    return invalid(`must not be larger than ${MAX_DOCUMENT_BYTES} bytes`)
  const parsed = parseDocument(text, source.defaultSlug)
  if (!parsed.document) return parsed
  const { document, getPosition } = parsed
  const conflicts = findConflicts(document, source)
  const budget = await findBudgetProblem(document)
  const problems = [
    ...conflicts.map((conflict) => ({ ...getPosition(conflict.field.split('.')), ...conflict })),
    ...(budget
      ? [{ ...getPosition(budget.path), field: budget.path.join('.'), message: budget.message }]
      : []),
  ]
  if (problems.length > 0) return { document: null, problems }
  const json = JSON.stringify(document)
  if (hasUnpairedSurrogate(json)) return invalid('contains half of a surrogate pair, which is not text')
  const bytes = Buffer.byteLength(json)
  if (bytes > MAX_DOCUMENT_BYTES)
    return invalid(`expands to ${bytes} bytes; the limit is ${MAX_DOCUMENT_BYTES}`)
  return { document, problems: [] }
}

const invalid = (message: string): CheckedDocument => ({
  document: null,
  problems: [{ ...START, field: null, message }],
})

/** A code agent has code and no model settings; a model agent has instructions and no code. */
function findConflicts(document: AgentDocument, { hasCode, withCode, withoutCode }: DocumentSource) {
  const { code, model, tools, instructions, execution, learning } = document
  const conflicts: { field: string; message: string }[] = []
  const add = (field: string, message: string) => void conflicts.push({ field, message })
  if (code && !hasCode) add('code', `is true, but ${withoutCode}`)
  if (!code && hasCode) add('code', `must be true because ${withCode}`)
  if (code && model) add('model', 'must be omitted: a code agent has no model')
  if (code && tools.length > 0)
    add('tools', 'must be omitted: a code agent has no model that could call tools')
  if (code && execution.models)
    add('execution.models', 'must be omitted: a code agent has no model that a call could override')
  if (code && learning) add('learning', 'must be omitted: a code agent does not learn')
  for (const limit of ['maxParallelToolCalls', 'maxChildren'] as const) {
    if (code && execution[limit] !== undefined)
      add(`execution.${limit}`, 'must be omitted: a code agent has no model that could call tools')
  }
  if (!code && !hasCode && instructions === '')
    add('instructions', 'are required: add text for the model below the front matter')
  return conflicts
}
