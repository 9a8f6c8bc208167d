import type { Environment } from '../../environment.ts'
import type { Provider } from '../model-name.ts'

type Settings = {
  baseUrl: string
  required: string[]
  /** Variables whose values must not appear in messages. */
  secrets: string[]
}

export const AWS_REGION = 'AWS_REGION'
export const AWS_ACCESS_KEY_ID = 'AWS_ACCESS_KEY_ID'
export const AWS_SECRET_ACCESS_KEY = 'AWS_SECRET_ACCESS_KEY'
export const AWS_SESSION_TOKEN = 'AWS_SESSION_TOKEN'
/** An Amazon Bedrock API key, used instead of AWS credentials. */
export const AWS_BEARER_TOKEN_BEDROCK = 'AWS_BEARER_TOKEN_BEDROCK'
export const OPENAI_API_KEY = 'OPENAI_API_KEY'
export const ANTHROPIC_API_KEY = 'ANTHROPIC_API_KEY'
export const OPENAI_COMPATIBLE_BASE_URL = 'OPENAI_COMPATIBLE_BASE_URL'
export const OPENAI_COMPATIBLE_API_KEY = 'OPENAI_COMPATIBLE_API_KEY'
/** An integer: the output limit of models of this provider whose document sets none. */
export const OPENAI_COMPATIBLE_MAX_OUTPUT_TOKENS = 'OPENAI_COMPATIBLE_MAX_OUTPUT_TOKENS'

/** The environment variables of each provider. */
export const SETTINGS: Record<Provider, Settings> = {
  bedrock: {
    baseUrl: 'BEDROCK_BASE_URL',
    required: [AWS_REGION],
    secrets: [AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_BEARER_TOKEN_BEDROCK],
  },
  anthropic: { baseUrl: 'ANTHROPIC_BASE_URL', required: [ANTHROPIC_API_KEY], secrets: [ANTHROPIC_API_KEY] },
  openai: { baseUrl: 'OPENAI_BASE_URL', required: [OPENAI_API_KEY], secrets: [OPENAI_API_KEY] },
  'openai-compatible': {
    baseUrl: OPENAI_COMPATIBLE_BASE_URL,
    required: [OPENAI_COMPATIBLE_BASE_URL],
    secrets: [OPENAI_COMPATIBLE_API_KEY],
  },
}

/** Shorter values are placeholders such as "ollama", which local servers accept. Masking them would garble messages. */
const MIN_SECRET_LENGTH = 8

/** The values to mask in messages. */
export function getSecrets(provider: Provider, environment: Environment): string[] {
  return SETTINGS[provider].secrets.flatMap((name) => {
    const value = environment[name] ?? ''
    return value.length < MIN_SECRET_LENGTH ? [] : [value]
  })
}
