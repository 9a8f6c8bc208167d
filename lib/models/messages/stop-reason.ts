import type { LanguageModelV4FinishReason } from '@ai-sdk/provider'
import type { ModelStopReason } from '../../core/model.ts'

/** Reasons of Anthropic and Bedrock that the SDK reports as others. */
const REASONS: Record<string, ModelStopReason> = {
  refusal: 'refusal',
  model_context_window_exceeded: 'context-window',
}

/** @param refusal the text of a refusal; OpenAI's reason to stop is then `stop` */
export function toStopReason(
  { unified, raw }: LanguageModelV4FinishReason,
  refusal: string,
): ModelStopReason {
  if (refusal !== '') return 'refusal'
  return REASONS[raw ?? ''] ?? (unified === 'error' ? 'other' : unified)
}
