import { randomUUID } from 'node:crypto'
import type { AwsV4Signer } from 'aws4fetch'
import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts'
import type { Environment } from '../../environment.ts'
import { CLAUDE } from './claude.ts'
import type { OpenSettings } from './provider-traits.ts'

export const REGION = 'AWS_REGION'
export const ACCESS_KEY_ID = 'AWS_ACCESS_KEY_ID'
export const SECRET_ACCESS_KEY = 'AWS_SECRET_ACCESS_KEY'
export const SESSION_TOKEN = 'AWS_SESSION_TOKEN'
/** An Amazon Bedrock API key, used instead of AWS credentials. */
export const BEARER_TOKEN = 'AWS_BEARER_TOKEN_BEDROCK'

/** Begins the text of a failed tool result, which gets a status in its place. Random, so that no tool can return it. */
export const ERROR_MARK = `error-${randomUUID()} `

type Credentials = Omit<ConstructorParameters<typeof AwsV4Signer>[0], 'url'>

export function findCredentialsProblem(environment: Environment): string | undefined {
  const hasKeys = environment[ACCESS_KEY_ID] && environment[SECRET_ACCESS_KEY]
  if (hasKeys || environment[BEARER_TOKEN]) return undefined
  return `no AWS credentials found. Set ${ACCESS_KEY_ID} and ${SECRET_ACCESS_KEY}, or ${BEARER_TOKEN}.`
}

/** The package of the provider. Failed tool results get the status `error`. */
export async function loadBedrock({ baseURL, variable, fetch }: OpenSettings) {
  const { createAmazonBedrock } = await import('@ai-sdk/amazon-bedrock')
  const region = variable(REGION)
  const apiKey = variable(BEARER_TOKEN)
  const sessionToken = variable(SESSION_TOKEN)
  const credentials = {
    accessKeyId: variable(ACCESS_KEY_ID),
    secretAccessKey: variable(SECRET_ACCESS_KEY),
    ...(sessionToken && { sessionToken }),
  }
  return createAmazonBedrock({
    region,
    apiKey,
    ...(baseURL && { baseURL }),
    credentialProvider: async () => credentials,
    fetch: bedrockFetch(apiKey ? null : { ...credentials, region }, fetch),
  })
}

/**
 * The ARN of an application's own inference profile does not say which model it has: the id of the model may follow, as
 * in `{arn}#{id}`, for prices and capabilities.
 */
export async function openBedrock(model: string, settings: OpenSettings) {
  const [id = '', base = ''] = model.split('#')
  const { readConverse } = await import('../frames/converse-frames.ts')
  const fetch = readConverse(settings.fetch)
  return (await loadBedrock({ ...settings, fetch }))(
    id,
    CLAUDE.test(base) ? { modelFamily: 'anthropic' } : {},
  )
}

/**
 * A `fetch` for Amazon Bedrock that gives marked tool results the status `error`, which the AI SDK does not send. The
 * body changes after the SDK has signed it, so it is signed again; `credentials` is null for an API key, which signs
 * nothing.
 */
function bedrockFetch(credentials: Credentials | null, send: typeof fetch): typeof fetch {
  return async (input, init) => {
    const body = init?.body
    if (typeof body !== 'string' || !body.includes(ERROR_MARK)) return send(input, init)
    const marked = JSON.stringify(withStatus(JSON.parse(body)))
    const headers = new Headers(init?.headers)
    if (!credentials) return send(input, { ...init, headers, body: marked })
    const { AwsV4Signer } = await import('aws4fetch')
    const signer = new AwsV4Signer({
      ...credentials,
      url: String(input),
      method: 'POST',
      headers,
      body: marked,
      service: 'bedrock',
    })
    const signed = await signer.sign()
    return send(input, { ...init, headers: signed.headers, body: marked })
  }
}

function withStatus(body: JsonObject): JsonObject {
  return { ...body, messages: toList(body.messages).map(mapContent(markResult)) }
}

const mapContent =
  (map: (block: Json) => Json) =>
  (message: Json): Json =>
    isJsonObject(message) ? { ...message, content: toList(message.content).map(map) } : message

function markResult(block: Json): Json {
  if (!isJsonObject(block) || !isJsonObject(block.toolResult)) return block
  const content = toList(block.toolResult.content)
  const [first] = content
  if (!isJsonObject(first) || typeof first.text !== 'string' || !first.text.startsWith(ERROR_MARK))
    return block
  const text = first.text.slice(ERROR_MARK.length)
  const toolResult = {
    ...block.toolResult,
    content: [{ ...first, text }, ...content.slice(1)],
    status: 'error',
  }
  return { ...block, toolResult }
}

const toList = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : [])
