import { ModelConfigurationError } from '../core/model.ts'
import type { Environment } from '../environment.ts'
import { checkModel } from './check-model.ts'
import { connect } from './endpoints/connection.ts'
import { type ModelName, parseModelName } from './model-name.ts'
import { traitsOf } from './providers/providers.ts'

type Params = { model: string; text: string; environment: Environment; signal: AbortSignal }

/** Redirects are not followed: only the configured URL gets the API key. */
const plainFetch: typeof fetch = (input, init) => fetch(input, { ...init, redirect: 'error' })

/**
 * The vector of a text, with one request. Imported on demand, because it loads the package of a provider.
 * @throws ModelConfigurationError, ModelError, or an error of the provider, whose message may contain the text
 */
export async function embedText({ model, text, environment: base, signal }: Params): Promise<number[]> {
  const { environment, fetch } = await connect(checkEmbeddingModel(model, base), base, plainFetch)
  const name = checkModel(model, environment)
  const { variables, openEmbedding } = traitsOf(name.provider)
  const variable = (variableName: string) => environment[variableName] ?? ''
  const opened = await openEmbedding?.(name.model, { baseURL: variable(variables.baseUrl), variable, fetch })
  const { embeddings } = (await opened?.doEmbed({ values: [text], abortSignal: signal })) ?? {}
  return embeddings?.[0] ?? []
}

/** Also checks the settings of the provider. @throws ModelConfigurationError */
export function checkEmbeddingModel(text: string, environment: Environment): ModelName {
  parseEmbeddingModel(text, environment)
  return checkModel(text, environment)
}

/** @throws ModelConfigurationError */
export function parseEmbeddingModel(text: string, environment: Environment): ModelName {
  const name = parseModelName(text, environment)
  if (traitsOf(name.provider).openEmbedding) return name
  throw new ModelConfigurationError(`The provider ${name.provider} has no embedding models.`)
}
