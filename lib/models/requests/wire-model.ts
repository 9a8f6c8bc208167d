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
import { limitImages, withImagesAfterResults } from './wire-images.ts'
import { wireMessages } from './wire-messages.ts'
import { toWireSchema, type WireSchema } from './wire-schema.ts'
import { strictSchemas, type ToolSchema, toToolSchemas } from './wire-tools.ts'

/** What is sent, and what the content of its response means. */
export type WireRequest = {
  options: LanguageModelV4CallOptions
  /** Whether the schema of a tool is enforced. */
  isStrict: boolean
  /** The conversion of the text (`null`) or of the input of a tool; null if it arrives as it is declared. */
  decoderOf: (toolName: string | null) => WireSchema['decode'] | null
  decode: (content: LanguageModelV4Content[]) => LanguageModelV4Content[]
}

/**
 * Converts requests to those that keep the rules of a model's provider, which the AI SDK does not know: schemas,
 * property keys, blank texts, echoed reasoning, images, prompt caching. The inputs of tool calls are converted in
 * requests and back in responses; callers see only the declared schemas.
 */
export function wireRules(name: ModelName) {
  const toMessage = wireMessages(name)

  /** @param mayBeStrict false for a server that rejects strict tools */
  return (options: LanguageModelV4CallOptions, mayBeStrict = true): WireRequest => {
    const given = options.tools ?? []
    const tools = given.filter((tool) => tool.type === 'function')
    const providerTools = given.filter((tool) => tool.type === 'provider')
    const schemas = toToolSchemas(tools, name, mayBeStrict)
    const { responseFormat, answer } = toWireFormat(options.responseFormat, name)
    const prompt = limitImages(options.prompt.flatMap((message) => toMessage(message, schemas) ?? []))
    const wireOptions = {
      ...options,
      prompt: withImagesAfterResults(withAllReasoning(prompt, name), name),
      ...(options.tools && { tools: [...toWireTools(tools, schemas, name), ...providerTools] }),
      ...(responseFormat && { responseFormat }),
    }
    return {
      options: withPromptCaching(wireOptions, name),
      isStrict: [...schemas.values()].some((schema) => schema.isStrict),
      decoderOf(toolName) {
        const schema = toolName === null ? answer : schemas.get(toolName)
        return schema?.convertsInputs ? schema.decode : null
      },
      decode: (content) => content.map((part) => decodePart(part, schemas, answer)),
    }
  }
}

type Format = LanguageModelV4CallOptions['responseFormat']

/** The format with the schema that the provider enforces. Servers that read any schema get it as declared. */
function toWireFormat(
  responseFormat: Format,
  name: ModelName,
): { responseFormat: Format; answer?: WireSchema } {
  const { strict } = traitsOf(name.provider)
  const isStrict = responseFormat?.type === 'json' && responseFormat.schema && supports(name, 'structured')
  if (!isStrict || !strict) return { responseFormat }
  const wireSchema = toWireSchema(responseFormat.schema as JsonObject)
  const answer = strictSchemas(strict)(wireSchema) ?? wireSchema
  return { responseFormat: { ...responseFormat, schema: answer.schema }, answer }
}

function toWireTools(
  tools: LanguageModelV4FunctionTool[],
  schemas: ReadonlyMap<string, ToolSchema>,
  name: ModelName,
): LanguageModelV4FunctionTool[] {
  const { isStrictByDefault } = traitsOf(name.provider)
  return tools.map(({ description, ...tool }) => {
    const { schema = {}, isStrict = false } = schemas.get(tool.name) ?? {}
    return {
      ...tool,
      ...(description?.trim() && { description }),
      inputSchema: schema,
      ...(isStrict && { strict: true }),
      ...(!isStrict && isStrictByDefault && { strict: false }),
    }
  })
}

/** Leaves invalid JSON unchanged: the engine explains the error to the model. */
function decodePart(
  part: LanguageModelV4Content,
  schemas: ReadonlyMap<string, WireSchema>,
  answer: WireSchema | undefined,
): LanguageModelV4Content {
  if (part.type === 'text' && answer) return { ...part, text: decodeJson(part.text, answer) }
  const schema = part.type === 'tool-call' ? schemas.get(part.toolName) : undefined
  return part.type === 'tool-call' && schema ? { ...part, input: decodeJson(part.input, schema) } : part
}

function decodeJson(text: string, { convertsInputs, decode }: WireSchema): string {
  if (!convertsInputs) return text
  try {
    return JSON.stringify(decode(parseModelJson(text)))
  } catch {
    return text
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
