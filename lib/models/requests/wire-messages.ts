import type {
  LanguageModelV4Message,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider'
import type { Json } from '../../core/json/json.ts'
import type { ModelName } from '../model-name.ts'
import { supports } from '../providers/model-traits.ts'
import { traitsOf } from '../providers/providers.ts'
import { toWireSearch } from './web-search.ts'
import { withoutImages } from './wire-images.ts'
import type { WireSchema } from './wire-schema.ts'

type Message<Role extends LanguageModelV4Message['role']> = Extract<LanguageModelV4Message, { role: Role }>
type AssistantPart = Message<'assistant'>['content'][number]

/** Providers reject blank text. */
const NO_TEXT = '(empty)'

/**
 * Converts messages of the history to what the provider accepts. A message is converted once, however many requests
 * contain it. Null for a message that has nothing to send.
 */
export function wireMessages(name: ModelName) {
  const converted = new WeakMap<LanguageModelV4Message, LanguageModelV4Message | null>()
  return (message: LanguageModelV4Message, schemas: ReadonlyMap<string, WireSchema>) => {
    const known = converted.get(message)
    if (known !== undefined) return known
    const wireMessage = convert(message, name, schemas)
    converted.set(message, wireMessage)
    return wireMessage
  }
}

function convert(
  message: LanguageModelV4Message,
  name: ModelName,
  schemas: ReadonlyMap<string, WireSchema>,
): LanguageModelV4Message | null {
  if (message.role === 'assistant') {
    const content = message.content.flatMap((part) => convertAssistantPart(part, name, schemas))
    return content.length > 0 ? { ...message, content } : null
  }
  if (message.role !== 'tool') return message
  const content = message.content.map((part) =>
    part.type === 'tool-result' ? convertResult(part, name) : part,
  )
  return { ...message, content }
}

function convertAssistantPart(
  part: AssistantPart,
  name: ModelName,
  schemas: ReadonlyMap<string, WireSchema>,
): AssistantPart[] {
  if (part.type === 'text') return isBlank(part.text) ? [] : [part]
  if (part.type === 'reasoning') return supports(name, 'reasoning') ? [part] : []
  if (part.type === 'tool-result') return toWireSearch(part, name)
  if (part.type !== 'tool-call') return [part]
  if (part.providerExecuted) return toWireSearch(part, name)
  const schema = schemas.get(part.toolName)
  return [schema?.convertsInputs ? { ...part, input: schema.encode(part.input as Json) } : part]
}

function convertResult(part: LanguageModelV4ToolResultPart, name: ModelName): LanguageModelV4ToolResultPart {
  const output = convertOutput(part.output, name)
  return output === part.output ? part : { ...part, output }
}

function convertOutput(
  output: LanguageModelV4ToolResultOutput,
  name: ModelName,
): LanguageModelV4ToolResultOutput {
  switch (output.type) {
    case 'text':
      return isBlank(output.value) ? { ...output, value: NO_TEXT } : output
    case 'error-text': {
      const value = isBlank(output.value) ? NO_TEXT : output.value
      return { ...output, value: (traitsOf(name.provider).errorMark ?? '') + value }
    }
    case 'content':
      return supports(name, 'images') ? output : withoutImages(output)
    default:
      return output
  }
}

const isBlank = (text: string): boolean => text.trim() === ''
