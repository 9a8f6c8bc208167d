import type { ApiError } from '../api/api-error.ts'
import { type Issue, locate } from '../schema/check/check-text.ts'
import { isEditable } from '../schema/editor/use-large-input.ts'
import { JsonSyntaxError, parseJsonTree } from '../schema/json/json-node.ts'

/** The violations that the service named, at their places in the input that was sent. Those of a large input have none. */
export function toServerIssues(error: ApiError | null, text: string): Issue[] {
  if (error?.code !== 'InputSchemaMismatch' || !isEditable(text)) return []
  try {
    return locate(text, parseJsonTree(text), error.problem?.errors ?? [])
  } catch (cause) {
    if (cause instanceof JsonSyntaxError) return []
    throw cause
  }
}

/** What the service said about parameters, by their names. */
export function toServerOptionProblems(error: ApiError | null): Partial<Record<string, string>> {
  if (error?.code !== 'InvalidQueryParameter' && error?.code !== 'InvalidModelOverride') return {}
  return Object.fromEntries((error.problem?.errors ?? []).map(({ path, message }) => [path, message]))
}

/** Both, without what both have found. */
export function mergeIssues(own: Issue[], server: Issue[]): Issue[] {
  const known = new Set(own.map(({ path, message }) => `${path} ${message}`))
  return [...own, ...server.filter(({ path, message }) => !known.has(`${path} ${message}`))].sort(
    (a, b) => a.offset - b.offset,
  )
}
