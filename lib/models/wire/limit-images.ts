import type { LanguageModelV4Message, LanguageModelV4ToolResultPart } from '@ai-sdk/provider'
import { withoutImages } from './wire-messages.ts'

/**
 * What a request may contain. Bedrock accepts 20 images and 25 MB, Anthropic 32 MB and, with more than 20 images, only small
 * ones. Base64, so the size in the request.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html
 */
const MAX_IMAGES = 20
const MAX_IMAGE_CHARACTERS = 15_000_000

/** Keeps the latest images of a history. In place of older ones, the model has their descriptions. */
export function limitImages(prompt: LanguageModelV4Message[]): LanguageModelV4Message[] {
  let images = 0
  let characters = 0
  const limitResult = (part: LanguageModelV4ToolResultPart): LanguageModelV4ToolResultPart => {
    if (part.output.type !== 'content') return part
    for (const item of part.output.value) {
      if (item.type !== 'file' || item.data.type !== 'data') continue
      images++
      characters += item.data.data.length
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
