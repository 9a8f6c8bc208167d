import type { Environment } from '../environment.ts'
import type { Provider } from './model-name.ts'

type Settings = {
  baseUrl: string
  required: string[]
  /** Variables whose values no message may show. */
  secrets: string[]
}

export const AWS_REGION = 'AWS_REGION'
export const AWS_ACCESS_KEY_ID = 'AWS_ACCESS_KEY_ID'
export const AWS_SECRET_ACCESS_KEY = 'AWS_SECRET_ACCESS_KEY'
export const AWS_SESSION_TOKEN = 'AWS_SESSION_TOKEN'
/** An API key of Bedrock, in place of AWS credentials. */
export const AWS_BEARER_TOKEN_BEDROCK = 'AWS_BEARER_TOKEN_BEDROCK'
export const OPENAI_API_KEY = 'OPENAI_API_KEY'
export const ANTHROPIC_API_KEY = 'ANTHROPIC_API_KEY'
export const OPENAI_COMPATIBLE_BASE_URL = 'OPENAI_COMPATIBLE_BASE_URL'
export const OPENAI_COMPATIBLE_API_KEY = 'OPENAI_COMPATIBLE_API_KEY'

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

/** Local servers take any key, "ollama" for one: what is that short is no secret. */
const MIN_SECRET = 8

/** The values to black out of messages. */
export function secretsOf(provider: Provider, environment: Environment): string[] {
  return SETTINGS[provider].secrets.flatMap((name) => {
    const value = environment[name] ?? ''
    return value.length < MIN_SECRET ? [] : [value]
  })
}
