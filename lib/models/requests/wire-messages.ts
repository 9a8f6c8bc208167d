import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider'
import type { Json } from '../../core/json/json.ts'
import type { ModelName } from '../model-name.ts'
import { supports } from '../providers/model-traits.ts'
import { traitsOf } from '../providers/providers.ts'
import { toWireSearch } from './web-search.ts'
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

/**
 * What a request may contain. Bedrock accepts 20 images and 25 MB, Anthropic 32 MB and, with more than 20 images, only
 * small ones. Base64, so the size in the request.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html
 */
const MAX_IMAGES = 20
const MAX_IMAGE_CHARACTERS = 15_000_000

/**
 * Keeps the files of the input and the latest images of a history. In place of others, the model has their
 * descriptions.
 */
export function limitImages(prompt: LanguageModelV4Message[]): LanguageModelV4Message[] {
  const files = prompt
    .flatMap(({ role, content }) => (role === 'user' ? content : []))
    .filter((part) => part.type === 'file')
  let images = files.length
  let characters = files.map(sizeOf).reduce((sum, size) => sum + size, 0)
  const limitResult = (part: LanguageModelV4ToolResultPart): LanguageModelV4ToolResultPart => {
    if (part.output.type !== 'content') return part
    for (const item of part.output.value) {
      if (item.type !== 'file') continue
      images++
      characters += sizeOf(item)
    }
    if (images <= MAX_IMAGES && characters <= MAX_IMAGE_CHARACTERS) return part
    return { ...part, output: withoutImages(part.output) }
  }
  const limited = prompt.toReversed().map((message): LanguageModelV4Message => {
    if (message.role !== 'tool') return message
    const content = message.content.map((part) => (part.type === 'tool-result' ? limitResult(part) : part))
    return content.every((part, index) => part === message.content[index]) ? message : { ...message, content }
  })
  return limited.reverse()
}

/** The characters of a file in base64. */
const sizeOf = ({ data }: LanguageModelV4FilePart): number => (data.type === 'data' ? data.data.length : 0)

/** The text of a result, which describes its images. */
const withoutImages = (
  output: Extract<LanguageModelV4ToolResultOutput, { type: 'content' }>,
): LanguageModelV4ToolResultOutput => ({
  type: 'text',
  value: output.value.map((item) => (item.type === 'text' ? item.text : '')).join(''),
})

const isBlank = (text: string): boolean => text.trim() === ''
