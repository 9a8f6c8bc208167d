import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider'
import type { ModelName } from '../model-name.ts'
import { traitsOf } from '../providers/providers.ts'

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
export const withoutImages = (
  output: Extract<LanguageModelV4ToolResultOutput, { type: 'content' }>,
): LanguageModelV4ToolResultOutput => ({
  type: 'text',
  value: output.value.map((item) => (item.type === 'text' ? item.text : '')).join(''),
})

/**
 * Moves the images of tool results to a message of the user after them, for formats whose results are texts. Between
 * results, no other message is allowed.
 */
export function withImagesAfterResults(
  prompt: LanguageModelV4Message[],
  { provider }: ModelName,
): LanguageModelV4Message[] {
  if (!traitsOf(provider).hasTextResults) return prompt
  return prompt.flatMap((message, index): LanguageModelV4Message[] => {
    if (message.role !== 'tool') return [message]
    const content = message.content.map((part) =>
      part.type === 'tool-result' && part.output.type === 'content'
        ? { ...part, output: withoutImages(part.output) }
        : part,
    )
    const isLast = prompt[index + 1]?.role !== 'tool'
    const images = isLast ? imagesOf(resultsUpTo(prompt, index)) : []
    const results = { ...message, content }
    return images.length === 0 ? [results] : [results, { role: 'user', content: images }]
  })
}

/** The messages with results in a row that end at an index. */
function resultsUpTo(prompt: LanguageModelV4Message[], index: number): LanguageModelV4Message[] {
  const before = prompt.slice(0, index).findLastIndex(({ role }) => role !== 'tool')
  return prompt.slice(before + 1, index + 1)
}

type UserPart = Extract<LanguageModelV4Message, { role: 'user' }>['content'][number]

const imagesOf = (messages: LanguageModelV4Message[]): UserPart[] =>
  messages.flatMap(({ role, content }) =>
    role !== 'tool'
      ? []
      : content.flatMap((part): UserPart[] => {
          if (part.type !== 'tool-result' || part.output.type !== 'content') return []
          const files = part.output.value.filter((item) => item.type === 'file')
          return [
            { type: 'text', text: `Images in the result of ${part.toolName} (${part.toolCallId}):` },
            ...files,
          ]
        }),
  )
