import type { Provider } from '../model-name.ts'

/** How the streams of a provider, as the SDK reads them, differ from those of others. */
export type StreamTraits = {
  /** Refusals are only in the raw chunks. */
  hidesRefusals: boolean
  /** Usage follows the reason to finish, and is never missing. */
  endsWithUsage: boolean
  /** The input of a call is sent a field at a time: nothing arrives while the model writes a long one. */
  buffersInputs: boolean
}

const NONE: StreamTraits = { hidesRefusals: false, endsWithUsage: false, buffersInputs: false }

export const STREAM_TRAITS: Record<Provider, StreamTraits> = {
  openai: { ...NONE, hidesRefusals: true },
  'openai-compatible': { ...NONE, hidesRefusals: true },
  /** The SDK asks for `eager_input_streaming`, which Bedrock does not have. */
  anthropic: NONE,
  bedrock: { ...NONE, endsWithUsage: true, buffersInputs: true },
}
