import type { AnswerMode } from '../../core/model.ts'
import type { ModelName } from '../model-name.ts'

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_SpecificToolChoice.html */
const FORCEABLE_ON_BEDROCK = /claude-|amazon\.nova-/

/**
 * How a model can be asked for its output. Claude rejects a forced tool while it reasons. Servers of open models constrain
 * text by a schema more often than they support tools; for those that do not, see `open-model.ts`.
 */
export function getAnswerModes({ provider, model, reasoning }: ModelName): AnswerMode[] {
  if (provider === 'openai-compatible') return ['tool', 'json']
  const isReasoning = reasoning !== 'none' && reasoning !== 'default'
  const isForceable = provider !== 'bedrock' || FORCEABLE_ON_BEDROCK.test(model)
  return isForceable && !isReasoning ? ['tool', 'forced-tool'] : ['tool']
}
