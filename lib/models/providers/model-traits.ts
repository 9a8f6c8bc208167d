import { isImageType } from '../../core/media.ts'
import type { AnswerMode } from '../../core/model.ts'
import { type ModelName, toModelId } from '../model-name.ts'
import type { Reasoning } from '../providers/provider-traits.ts'
import type { CallOptions, Capability, ReasoningFamily } from './provider-traits.ts'
import { type Provider, traitsOf } from './providers.ts'

export const supports = ({ provider, endpoint, model }: ModelName, capability: Capability): boolean =>
  endpoint?.traits[capability] ?? traitsOf(provider).models[capability]?.test(toModelId(model)) ?? false

/** Whether a model reads files of a type in the message of a user. */
export const acceptsMedia = (name: ModelName, mediaType: string): boolean =>
  supports(name, isImageType(mediaType) ? 'inputImages' : 'inputPdfs')

/** How a model can be asked for its output. Claude rejects a forced tool while it reasons. */
export function getAnswerModes(name: ModelName): AnswerMode[] {
  return [
    'tool',
    ...(supports(name, 'forcedTool') && !isReasoning(name) ? ['forced-tool' as const] : []),
    ...(supports(name, 'structured') ? ['structured' as const] : []),
    ...(supports(name, 'json') ? ['json' as const] : []),
  ]
}

/** With levels of an endpoint, a family that has options: the name of the model may say nothing about it. */
function findFamily({ provider, endpoint, model }: ModelName): ReasoningFamily | undefined {
  const { reasoning } = traitsOf(provider)
  const id = toModelId(model)
  const levels = endpoint?.traits.reasoningLevels
  if (!levels) return reasoning.find(({ models }) => models.test(id))
  const family = reasoning.find(({ models, toOptions }) => toOptions && models.test(id))
  return family && { ...family, levels }
}

/** Always includes `default`. */
export function getSupportedLevels(name: ModelName): Reasoning[] {
  return ['default', ...(findFamily(name)?.levels ?? [])]
}

/** The most output tokens of one response; undefined if it is not known. */
export function getOutputLimit({ provider, endpoint, model }: ModelName): number | undefined {
  const limits = endpoint ? [] : traitsOf(provider).outputLimits
  return limits?.find(({ models }) => models.test(toModelId(model)))?.tokens
}

/** Whether the package sends a temperature. With a reasoning level, only compatible servers may accept one. */
export function acceptsTemperature(name: ModelName): boolean {
  const { provider, model, reasoning } = name
  if (provider === 'openai' && reasoning === 'none' && /^gpt-5\.[1-9]/.test(model)) return true
  if (!supports(name, 'temperature')) return false
  return !isReasoning(name) || !REASONS_WITHOUT_TEMPERATURE.includes(provider)
}

const REASONS_WITHOUT_TEMPERATURE: Provider[] = ['anthropic', 'openai', 'bedrock']

const isReasoning = ({ reasoning }: ModelName): boolean => reasoning !== 'none' && reasoning !== 'default'

/** The options for a supported level; empty for `default`. */
export function toReasoningOptions(name: ModelName): CallOptions {
  const { reasoning } = name
  return reasoning === 'default' ? {} : (findFamily(name)?.toOptions?.(reasoning) ?? {})
}
