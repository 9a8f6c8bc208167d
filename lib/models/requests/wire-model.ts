import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
} from '@ai-sdk/provider'
import type { JsonObject } from '../../core/json/json.ts'
import { parseModelJson } from '../../core/json/parse-json.ts'
import type { ModelName } from '../model-name.ts'
import { supports } from '../providers/model-traits.ts'
import { traitsOf } from '../providers/providers.ts'
import { withPromptCaching } from './prompt-caching.ts'
import { isStrictSchema } from './strict-schema.ts'
import { limitImages, wireMessages } from './wire-messages.ts'
import { toWireSchema, type WireSchema } from './wire-schema.ts'

type Schemas = ReadonlyMap<string, WireSchema>

/** Anthropic rejects requests with more. */
const MAX_STRICT_TOOLS = 20

/** What is sent, and what the content of its response means. */
export type WireRequest = {
  options: LanguageModelV4CallOptions
  decode: (content: LanguageModelV4Content[]) => LanguageModelV4Content[]
}

/**
 * Converts requests to those that keep the rules of a model's provider, which the AI SDK does not know: schemas,
 * property keys, blank texts, echoed reasoning, images, prompt caching. The inputs of tool calls are converted in
 * requests and back in responses; callers see only the declared schemas.
 */
export function wireRules(name: ModelName) {
  const toMessage = wireMessages(name)

  return (options: LanguageModelV4CallOptions): WireRequest => {
    const given = options.tools ?? []
    const tools = given.filter((tool) => tool.type === 'function')
    const providerTools = given.filter((tool) => tool.type === 'provider')
    const schemas: Schemas = new Map(
      tools.map((tool) => [tool.name, toWireSchema(tool.inputSchema as JsonObject)]),
    )
    const prompt = limitImages(options.prompt.flatMap((message) => toMessage(message, schemas) ?? []))
    const wireOptions = {
      ...options,
      prompt: withAllReasoning(prompt, name),
      ...(options.tools && { tools: [...toWireTools(tools, schemas, name), ...providerTools] }),
    }
    return {
      options: withPromptCaching(wireOptions, name),
      decode: (content) => content.map((part) => decodeCall(part, schemas)),
    }
  }
}

function toWireTools(
  tools: LanguageModelV4FunctionTool[],
  schemas: Schemas,
  name: ModelName,
): LanguageModelV4FunctionTool[] {
  const { isStrictByDefault } = traitsOf(name.provider)
  let strictTools = 0
  return tools.map(({ description, ...tool }) => {
    const inputSchema = schemas.get(tool.name)?.schema ?? {}
    const isStrict =
      supports(name, 'strictTools') && isStrictSchema(inputSchema) && ++strictTools <= MAX_STRICT_TOOLS
    return {
      ...tool,
      ...(description?.trim() && { description }),
      inputSchema,
      ...(isStrict && { strict: true }),
      ...(!isStrict && isStrictByDefault && { strict: false }),
    }
  })
}

/** Leaves invalid JSON unchanged: the engine explains the error to the model. */
function decodeCall(part: LanguageModelV4Content, schemas: Schemas): LanguageModelV4Content {
  if (part.type !== 'tool-call') return part
  const schema = schemas.get(part.toolName)
  if (!schema?.convertsInputs) return part
  try {
    const input = parseModelJson(part.input)
    return { ...part, input: JSON.stringify(schema.decode(input)) }
  } catch {
    return part
  }
}

/** Marks the messages without reasoning, where the provider requires it in a conversation that has some. */
function withAllReasoning(prompt: LanguageModelV4Prompt, name: ModelName): LanguageModelV4Prompt {
  const { optionsKey, noReasoning } = traitsOf(name.provider)
  if (!noReasoning || !supports(name, 'reasoning')) return prompt
  const hasReasoning = (message: LanguageModelV4Prompt[number]) =>
    message.role === 'assistant' && message.content.some(({ type }) => type === 'reasoning')
  if (!prompt.some(hasReasoning)) return prompt
  const empty = { providerOptions: { [optionsKey]: noReasoning } }
  return prompt.map((message) =>
    message.role === 'assistant' && !hasReasoning(message) ? { ...message, ...empty } : message,
  )
}
