import { hashJson } from '../core/json/hash-json.ts'
import type { Json } from '../core/json/json.ts'
import type { ModelRequest, ToolDeclaration } from '../core/model.ts'
import type { RequestKey } from '../core/step.ts'

/** Enough that two requests of an agent never have the same, and short enough to review. */
const HASH_CHARACTERS = 16

/** @param declarations the hash of the stored declarations of the run's MCP tools, if it has any */
export const toRequestKey = (model: string, request: ModelRequest, declarations?: string): RequestKey => ({
  model,
  answerMode: request.answerMode ?? 'tool',
  instructions: hash(request.instructions),
  tools: hash(request.tools.map((tool) => hashOnce(tool, withoutApproval))),
  messages: hashMessages(request.messages),
  ...(request.truncatedAfter !== undefined && { truncatedAfter: request.truncatedAfter }),
  ...(declarations !== undefined && { declarations }),
})

export const hash = (value: unknown): string => hashJson(value).slice(0, HASH_CHARACTERS)

export const hashMessages = (messages: Json[]): string => hash(messages.map((message) => hashOnce(message)))

/** Whether a model is sent the same. The declarations of MCP tools are among its tools. */
export const isSameRequest = (
  { declarations: _, ...key }: RequestKey,
  { declarations: __, ...other }: RequestKey,
): boolean => hashJson(key) === hashJson(other)

/** What the model sees of a tool. */
const withoutApproval = ({ approval: _, ...tool }: ToolDeclaration) => tool

/** Of messages and declarations, which are the same objects in each request of a run. */
const hashes = new WeakMap<object, string>()

/** A long history is not hashed again with each request: only what was added to it. */
function hashOnce<T>(value: T, toHashed: (value: T) => unknown = (same) => same): string {
  if (typeof value !== 'object' || value === null) return hashJson(value)
  const known = hashes.get(value)
  if (known !== undefined) return known
  const computed = hashJson(toHashed(value))
  hashes.set(value, computed)
  return computed
}
