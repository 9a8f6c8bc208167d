import type {
  LanguageModelV4Message,
  LanguageModelV4ProviderTool,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider'
import type { Json, JsonObject } from '../../core/json/json.ts'
import { ModelConfigurationError, ModelError, type ToolDeclaration, WEB_SEARCH } from '../../core/model.ts'
import type { Environment } from '../../environment.ts'
import { formatModelName, type ModelName, parseModelName } from '../model-name.ts'
import { supports } from '../providers/model-traits.ts'
import { traitsOf } from '../providers/providers.ts'

type AssistantPart = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'][number]

/** Why a model cannot search the web; null if it can. */
const findProblem = (name: ModelName): string | null =>
  traitsOf(name.provider).webSearch && supports(name, 'webSearch')
    ? null
    : `The provider of the model ${formatModelName(name)} does not search the web for it, as the tool ${WEB_SEARCH} requires. Use a model of anthropic or openai that can.`

/** @throws ModelConfigurationError if an agent has the tool and the model cannot search the web */
export function checkWebSearch(
  model: string,
  tools: { webSearch?: unknown }[],
  environment?: Environment,
): void {
  const problem = tools.some(({ webSearch }) => webSearch) && findProblem(parseModelName(model, environment))
  if (problem) throw new ModelConfigurationError(problem)
}

type SearchTool = { tool: LanguageModelV4ProviderTool; options: JsonObject }

/**
 * The provider's own tool in place of a declared one, with its options of the request; null without one.
 * @throws ModelError if the model cannot search the web
 */
export function toSearchTool(tools: ToolDeclaration[], name: ModelName): SearchTool | null {
  const search = tools.find(({ webSearch }) => webSearch)?.webSearch
  if (!search) return null
  const problem = findProblem(name)
  const found = problem === null && traitsOf(name.provider).webSearch?.toTool(search)
  if (!found) throw new ModelError(problem ?? '', { isTransient: false })
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
