import { isDeepStrictEqual } from 'node:util'
import { isJsonObject, type Json, type JsonObject, tryParseJson } from '../../core/json/json.ts'
import { parsePartnerJson } from '../../core/json/parse-json.ts'
import type { ToolResult } from '../../core/model.ts'
import { failed, succeeded } from '../tool.ts'
import { ImageCollector } from '../tool-image.ts'

/** A request that the client has sent. */
/** `traceparent`: the trace context in `_meta`. */
export type McpRequest = { id: Json; method: string; traceparent?: string }

/** The member of `_meta` that holds a result as the server wrote it. */
const RAW = 'aes/result'
const DEFAULT_REVISION = '2025-06-18'
const INTERNAL_ERROR = -32_603

/** Null for a notification or a response. */
export function toRequest(body: string | null): McpRequest | null {
  const message = tryParseJson(body ?? '')
  if (!isJsonObject(message) || message.id === undefined || typeof message.method !== 'string') return null
  const meta = isJsonObject(message.params) ? message.params._meta : null
  const traceparent = isJsonObject(meta) ? meta.traceparent : null
  return {
    id: message.id,
    method: message.method,
    ...(typeof traceparent === 'string' && { traceparent }),
  }
}

/** An error response to a request. */
export const toFailure = ({ id }: McpRequest, message: string): JsonObject => ({
  jsonrpc: '2.0',
  id,
  error: { code: -32_000, message },
})

/**
 * Reads messages that respond to a request. The SDK has closed schemas, and one odd member of one tool would fail them
 * all. It therefore gets what it needs: results of `tools/list` and `tools/call` are hidden from it (`rawResult`).
 * @returns without those that mean nothing; null if the text is no JSON
 */
export function toMessages(text: string, request: McpRequest): JsonObject[] | null {
  const value = parsePartnerJson(text)
  if (value === undefined) return null
  return [value]
    .flat()
    .filter(isJsonObject)
    .map((message) => toMessage(message, request))
    .filter((message) => message !== null)
}

function toMessage(message: JsonObject, request: McpRequest): JsonObject | null {
  const { id, method, params, result, error } = message
  const jsonrpc = '2.0'
  if (typeof method === 'string')
    return { jsonrpc, ...(id != null && { id }), method, ...(isJsonObject(params) && { params }) }
  // The answer to one request is to that request, whatever its id has become.
  if (error != null) return { jsonrpc, id: request.id, error: toError(error) }
  return isJsonObject(result) ? { jsonrpc, id: request.id, result: toResult(result, request.method) } : null
}

function toError(error: Json): JsonObject {
  const { code, message, ...rest } = isJsonObject(error) ? error : { message: error }
  const text = typeof message === 'string' ? message : JSON.stringify(message ?? error)
  return { ...rest, code: Number.isInteger(code) ? (code as Json) : INTERNAL_ERROR, message: text }
}

function toResult(result: JsonObject, method: string): JsonObject {
  if (method === 'initialize') {
    const { protocolVersion, serverInfo } = result
    const { name, version } = isJsonObject(serverInfo) ? serverInfo : {}
    return {
      protocolVersion: typeof protocolVersion === 'string' ? protocolVersion : DEFAULT_REVISION,
      capabilities: { tools: {} },
      serverInfo: { name: String(name ?? 'unknown'), version: String(version ?? 'unknown') },
    }
  }
  const { resultType = 'complete' } = result
  if ((method !== 'tools/list' && method !== 'tools/call') || resultType !== 'complete') return result
  const hidden = { resultType, _meta: { [RAW]: JSON.stringify(result) } }
  if (method === 'tools/call') return { ...hidden, content: [] }
  return { ...hidden, tools: [], ttlMs: 0, cacheScope: 'private' }
}

/** A result of `tools/list` or `tools/call` as the server wrote it; numbers keep their digits. */
export function rawResult(result: object): JsonObject {
  const { _meta } = result as { _meta?: { [RAW]?: string } }
  return parsePartnerJson(_meta?.[RAW] ?? '{}') as JsonObject
}

/** Loses nothing that the server wrote, except a text that only repeats the structured content, as servers should. */
export function toToolResult({ content, structuredContent = null, isError }: JsonObject): ToolResult {
  const collector = new ImageCollector()
  const blocks = Array.isArray(content) ? content : []
  const text = blocks.flatMap((block) => toText(block, collector) ?? []).join('\n')
  const isRepeated = isDeepStrictEqual(parsePartnerJson(text), structuredContent)
  const both =
    structuredContent === null || isRepeated
      ? text
      : [text, JSON.stringify(structuredContent)].filter(Boolean).join('\n')
  if (isError === true) return failed(both || 'The tool failed without an error message.')
  // The text describes the images.
  if (collector.images.length > 0) return succeeded(both, collector.images)
  if (structuredContent === null) return succeeded(text)
  return succeeded(text === '' || isRepeated ? structuredContent : { content: text, structuredContent })
}

/** The text of a block, also of one in the formats of other protocols; null for what is none. */
function toText(block: Json, collector: ImageCollector): string | null {
  if (typeof block === 'string') return block
  if (!isJsonObject(block)) return null
  const { type, text, data, resource, mimeType } = block
  if (typeof text === 'string') return text
  if (type === 'resource_link') {
    const { name, title, description, uri } = block
    return [...new Set([title, name, description, uri])].filter((each) => typeof each === 'string').join('\n')
  }
  const { text: inner, blob = data, mimeType: media = mimeType } = isJsonObject(resource) ? resource : block
  if (typeof inner === 'string') return inner
  if (typeof blob !== 'string') return `[Content of type ${JSON.stringify(type ?? null)} omitted.]`
  const bytes = Buffer.from(blob, 'base64')
  return TEXT_TYPE.test(String(media)) ? bytes.toString() : collector.add(bytes, String(media ?? 'unknown'))
}

/** Types that are text, which some servers send as `blob`. */
const TEXT_TYPE =
  /^text\/|^application\/(.+\+)?(json|xml|yaml|x-yaml|javascript|x-ndjson|sql|toml)\b|charset=utf-8/i
