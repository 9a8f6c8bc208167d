import { createHash } from 'node:crypto'
import type { LanguageModelV4FunctionTool, LanguageModelV4Message } from '@ai-sdk/provider'
import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts'
import type { Media } from '../../core/media.ts'
import type { Model, ModelRequest, ToolDeclaration, ToolResult } from '../../core/model.ts'

type Message = Exclude<LanguageModelV4Message, { role: 'system' }>

/** Each file follows its path, under which the text mentions it. */
export const toUserMessage: Model['userMessage'] = (text, files = []) => {
  const parts = files.flatMap((file) => [
    { type: 'text' as const, text: `File ${file.path}:` },
    toFilePart(file),
  ])
  return toJson({ role: 'user', content: [{ type: 'text', text }, ...parts] })
}

const toFilePart = ({ mediaType, data }: Media) => ({
  type: 'file' as const,
  mediaType,
  data: { type: 'data' as const, data },
})

/** Omits the calls that could not be parsed: the messages of the response already contain their errors. */
export const toToolMessage: Model['toolMessage'] = (results) => {
  const content = results.flatMap(({ call, result }) =>
    call.error === null
      ? [{ type: 'tool-result' as const, toolCallId: call.id, toolName: call.name, output: toOutput(result) }]
      : [],
  )
  return content.length > 0 ? toJson({ role: 'tool', content }) : null
}

/** All providers send JSON results as text. Serializing here avoids serializing them again for each request. */
function toOutput(result: ToolResult) {
  if (!result.ok) return { type: 'error-text' as const, value: result.error }
  const { value, images = [] } = result
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (images.length === 0) return { type: 'text' as const, value: text }
  return { type: 'content' as const, value: [{ type: 'text' as const, text }, ...images.map(toFilePart)] }
}

/** Messages are stored in the format of the provider packages, so a long history is not converted for each request. */
export function toPrompt({ instructions, messages }: ModelRequest): LanguageModelV4Message[] {
  const history = messages.filter((message) => message !== null) as unknown as Message[]
  return instructions ? [{ role: 'system', content: instructions }, ...history] : history
}

export const toFunctionTool = ({
  name,
  description,
  inputSchema,
}: ToolDeclaration): LanguageModelV4FunctionTool => ({ type: 'function', name, description, inputSchema })

/** To the engine, a message is opaque JSON. */
const toJson = (message: Message) => message as unknown as Json

/**
 * Messages of one model for a request to another one: texts and calls, without reasoning, signatures, references to
 * items that a provider stores, and what its own tools returned.
 */
export function toPortable(messages: readonly Json[]): Json[] {
  return messages.flatMap((message) => {
    if (!isJsonObject(message) || !Array.isArray(message.content)) return [message]
    const { providerOptions: _, ...rest } = message
    const content = message.content.filter(isJsonObject).flatMap((part) => toPortablePart(part, message.role))
    return content.length > 0 ? [{ ...rest, content }] : []
  })
}

function toPortablePart({ providerOptions: _, ...part }: JsonObject, role: Json | undefined): JsonObject[] {
  if (part.providerExecuted || part.type === 'reasoning') return []
  if (part.type === 'tool-result' && role !== 'tool') return []
  if (typeof part.toolCallId !== 'string') return [part]
  return [{ ...part, toolCallId: toPortableId(part.toolCallId) }]
}

/** What every provider accepts as the id of a call. */
const PORTABLE_ID = /^[\w-]{1,40}$/

/** The id of a call in requests to another model. */
export const toPortableId = (id: string): string =>
  PORTABLE_ID.test(id) ? id : `call_${createHash('sha256').update(id).digest('hex').slice(0, 24)}`
