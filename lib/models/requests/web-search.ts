import type {
  LanguageModelV4Message,
  LanguageModelV4ProviderTool,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider'
import type { Json, JsonObject } from '../../core/json/json.ts'
import { ModelError, type ToolDeclaration, WEB_SEARCH } from '../../core/model.ts'
import { findSearchProblem } from '../check-model.ts'
import type { ModelName } from '../model-name.ts'
import { traitsOf } from '../providers/providers.ts'

type AssistantPart = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'][number]

type SearchTool = { tool: LanguageModelV4ProviderTool; options: JsonObject }

/**
 * The provider's own tool in place of a declared one, with its options of the request; null without one.
 * @throws ModelError if the model cannot search the web
 */
export function toSearchTool(tools: ToolDeclaration[], name: ModelName): SearchTool | null {
  const search = tools.find(({ webSearch }) => webSearch)?.webSearch
  if (!search) return null
  const problem = findSearchProblem(name, search)
  const found = traitsOf(name.provider).webSearch?.toTool(search)
  if (problem || !found) throw new ModelError(problem ?? '', { isTransient: false })
  const { id, args, options = {} } = found
  return { tool: { type: 'provider', id, name: WEB_SEARCH, args }, options }
}

/** A call of a search, or its result, as the provider accepts it in the history. Nothing of another provider. */
export function toWireSearch(
  part: LanguageModelV4ToolCallPart | LanguageModelV4ToolResultPart,
  { provider }: ModelName,
): AssistantPart[] {
  const { callPrefix, toText } = traitsOf(provider).webSearch ?? {}
  if (!callPrefix || !part.toolCallId.startsWith(callPrefix)) return []
  if (!toText) return [part]
  if (part.type === 'tool-call') return []
  const result = 'value' in part.output ? (part.output.value as Json) : null
  return [{ type: 'text', text: toText(part.toolCallId, result) }]
}
