import { randomUUID } from 'node:crypto'
import type { AwsV4Signer } from 'aws4fetch'
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts'

/** Begins the text of a failed tool result, which gets a status in its place. Random, so that no tool can return it. */
export const ERROR_MARK = `error-${randomUUID()} `

type Credentials = Omit<ConstructorParameters<typeof AwsV4Signer>[0], 'url'>

/**
 * A `fetch` for Amazon Bedrock that gives marked tool results the status `error`, which the AI SDK does not send. The body
 * changes after the SDK has signed it, so it is signed again; `credentials` is null for an API key, which signs nothing.
 */
export function bedrockFetch(credentials: Credentials | null, send: typeof fetch): typeof fetch {
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
