import type { Environment } from '../../environment.ts'
import { PROVIDERS, type Provider } from '../model-name.ts'
import { anthropic } from './anthropic.ts'
import { bedrock } from './bedrock.ts'
import { openai } from './openai.ts'
import { openaiCompatible } from './openai-compatible.ts'
import type { KeyedProviderTraits, ProviderTraits } from './provider-traits.ts'

const TRAITS = { bedrock, anthropic, openai, 'openai-compatible': openaiCompatible } satisfies Record<
  Provider,
  ProviderTraits
>

export const traitsOf = (provider: Provider): ProviderTraits => TRAITS[provider]

/** Shorter values are placeholders such as "ollama", which local servers accept. Masking them would garble messages. */
const MIN_SECRET_LENGTH = 8

/** The values to mask in messages. */
export function getSecrets(provider: Provider, environment: Environment): string[] {
  return traitsOf(provider).variables.secrets.flatMap((name) => {
    const value = environment[name] ?? ''
    return value.length < MIN_SECRET_LENGTH ? [] : [value]
  })
}

/** The variables of all providers that contain no secret. */
export function getPublicVariables(): string[] {
  const names = PROVIDERS.flatMap((provider) => {
    const { baseUrl, required, outputLimit, secrets } = traitsOf(provider).variables
    const all = [baseUrl, ...required, ...(outputLimit ? [outputLimit.name] : [])]
    return all.filter((name) => !secrets.includes(name))
  })
  return [...new Set(names)]
}

/** The variable with the name of the SSM parameter that contains an API key. */
export const toParameterVariable = (apiKey: string): string => `${apiKey}_PARAMETER`

type Keyed<Name extends Provider> = (typeof TRAITS)[Name] extends KeyedProviderTraits ? Name : never
/** The setting of a stack with the name of the SSM parameter that contains an API key. */
export type KeySetting = `${{ [Name in Provider]: Keyed<Name> }[Provider]}KeyParameter`

/** The API keys that a stack can read. */
export const STACK_KEYS = PROVIDERS.flatMap((provider) => {
  const { title, variables } = traitsOf(provider)
  if (!variables.apiKey) return []
  const setting = `${provider}KeyParameter` as KeySetting
  return [{ title, setting, variable: toParameterVariable(variables.apiKey) }]
})
