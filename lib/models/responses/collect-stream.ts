import type {
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4Reasoning,
  LanguageModelV4StreamPart,
  LanguageModelV4Text,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider'
import { ModelError, type ResponsePart } from '../../core/model.ts'
import type { StreamTraits } from '../providers/provider-traits.ts'
import { IncompleteStreamError } from './reported-error.ts'

/** A complete response. */
export type CollectedResponse = {
  content: LanguageModelV4Content[]
  finishReason: LanguageModelV4FinishReason
  usage: LanguageModelV4Usage
}

/** What has arrived of a response, also if it ends early: text, reasoning and inputs of calls. */
export type Received = { text: string }

type Finish = Extract<LanguageModelV4StreamPart, { type: 'finish' }>

/**
 * Reads a response to its end, as `doGenerate` would return it.
 * @param onPart called with each piece of text and of inputs of calls; not with reasoning
 * @throws IncompleteStreamError; the error that the stream reports
 */
export async function collectStream(
  stream: AsyncIterable<LanguageModelV4StreamPart>,
  timeout: Pick<TokenTimeout, 'expectFirst' | 'expectNext'>,
  { buffersInputs }: StreamTraits = {},
  received: Received = { text: '' },
  onPart: (part: ResponsePart) => void = () => undefined,
): Promise<CollectedResponse> {
  const content: LanguageModelV4Content[] = []
  const open = new Map<string, LanguageModelV4Text | LanguageModelV4Reasoning>()
  const inputs = new Map<string, string>()
  let finish: Finish | undefined
  for await (const part of stream) {
    switch (part.type) {
      case 'error':
        throw part.error
      case 'finish':
        finish = part
        break
      case 'text-start':
      case 'reasoning-start': {
        const type = part.type === 'text-start' ? 'text' : 'reasoning'
        const started = { type, text: '', ...metadataOf(part) } as const
        open.set(part.id, started)
        content.push(started)
        if (type === 'reasoning') timeout.expectFirst()
        break
      }
      case 'text-delta':
      case 'reasoning-delta': {
        const started = open.get(part.id)
        if (started) Object.assign(started, { text: started.text + part.delta }, metadataOf(part))
        received.text += part.delta
        if (part.type === 'text-delta') onPart({ text: part.delta })
        timeout.expectNext()
        break
      }
      case 'text-end':
      case 'reasoning-end':
        Object.assign(open.get(part.id) ?? {}, metadataOf(part))
        open.delete(part.id)
        break
      case 'tool-call':
        content.push(part)
        // Not every provider sends the pieces.
        if (!part.providerExecuted && !inputs.has(part.toolCallId))
          onPart({ toolCall: { id: part.toolCallId, name: part.toolName, arguments: part.input } })
        // A tool of the provider may take as long as a first token.
        if (part.providerExecuted) timeout.expectFirst()
        else timeout.expectNext()
        break
      case 'tool-result':
        content.push(part)
        timeout.expectFirst()
        break
      case 'tool-input-start':
      case 'tool-input-delta':
        received.text += part.type === 'tool-input-delta' ? part.delta : part.toolName
        if (part.type === 'tool-input-start') {
          if (!part.providerExecuted) inputs.set(part.id, part.toolName)
        } else {
          const name = inputs.get(part.id)
          if (name !== undefined) onPart({ toolCall: { id: part.id, name, arguments: part.delta } })
        }
        if (buffersInputs) timeout.expectFirst()
        else timeout.expectNext()
    }
  }
  if (!finish) throw new IncompleteStreamError()
  return { content, finishReason: finish.finishReason, usage: finish.usage }
}

/** The last metadata of a part is the complete one, as in the SDK's `streamText`. */
const metadataOf = ({ providerMetadata }: { providerMetadata?: SharedV4ProviderMetadata }) =>
  providerMetadata && { providerMetadata }

/** How long a provider may send no token, in milliseconds. */
export type TokenTimeouts = { firstMs: number; nextMs: number }

export const TOKEN_TIMEOUTS: TokenTimeouts = { firstMs: 600_000, nextMs: 120_000 }

export type TokenTimeout = {
  /** Aborts when the caller's signal aborts, or when the next token takes too long. */
  signal: AbortSignal
  /** Also where a provider may send nothing for long: not all send reasoning, or an input before it is complete. */
  expectFirst: () => void
  expectNext: () => void
  stop: () => void
}

/** Starts to wait for the first token of a provider. */
export function startTokenTimeout(
  provider: string,
  timeouts: TokenTimeouts,
  caller: AbortSignal,
): TokenTimeout {
  const controller = new AbortController()
  const follow = () => controller.abort(caller.reason)
  // Not `AbortSignal.any`: the caller's signal outlives the request and would retain each combined signal.
  caller.addEventListener('abort', follow, { once: true })
  if (caller.aborted) follow()
  let timer: NodeJS.Timeout | undefined
  const expect = (ms: number) => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      const message = `${provider} sent no token for ${ms / 1000} s.`
      controller.abort(new ModelError(message, { isTransient: true }))
    }, ms)
  }
  expect(timeouts.firstMs)
  return {
    signal: controller.signal,
    expectFirst: () => expect(timeouts.firstMs),
    expectNext: () => expect(timeouts.nextMs),
    stop: () => {
      clearTimeout(timer)
      caller.removeEventListener('abort', follow)
    },
  }
}
