import type { MiddlewareObj } from '@middy/core'
import { InvalidJson, PayloadTooLarge, UnsupportedMediaType } from '../core/errors.ts'
import { isJsonObject, isWithinDepth, type Json, type JsonObject, MAX_JSON_DEPTH } from '../core/json.ts'
import { MAX_PAYLOAD_BYTES } from '../core/limits.ts'
import { jsonTypeOf, withArticle } from '../schema/message-text.ts'
import { getHeader, type ServiceEvent } from './event.ts'

const JSON_TYPE = /^application\/(?:json|[\w.-]+\+json)\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?;?\s*$/i

/** Parses the body, which must be a JSON object. */
export function jsonBody(): MiddlewareObj<ServiceEvent> {
  return {
    before: ({ event }) => {
      const encoding = getHeader(event, 'Content-Encoding') ?? 'identity'
      if (!JSON_TYPE.test(getHeader(event, 'Content-Type') ?? '') || encoding.toLowerCase() !== 'identity') {
        throw new UnsupportedMediaType()
      }
      event.json = parseJsonObject(decodeBody(event))
    },
  }
}

function decodeBody({ body, isBase64Encoded }: ServiceEvent): string {
  if (!body) throw new InvalidJson('The body is empty. Send a JSON object, for example {}.')
  if (!isBase64Encoded) return body
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(body, 'base64'))
  } catch {
    throw new InvalidJson('The body is not valid UTF-8.')
  }
}

function parseJsonObject(text: string): JsonObject {
  if (text.length > MAX_PAYLOAD_BYTES || Buffer.byteLength(text) > MAX_PAYLOAD_BYTES) {
    throw new PayloadTooLarge(`The body exceeds the limit of ${MAX_PAYLOAD_BYTES} bytes.`)
  }
  const value = parseJson(text)
  if (!isJsonObject(value)) {
    throw new InvalidJson(`The body is ${withArticle(jsonTypeOf(value))}. Send a JSON object.`)
  }
  if (!isWithinDepth(value)) {
    throw new InvalidJson(`The body is nested more than ${MAX_JSON_DEPTH} levels deep.`)
  }
  return value
}

/** A byte order mark at the start is ignored. */
function parseJson(text: string): Json {
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
  } catch (error) {
    throw new InvalidJson(`The body is not valid JSON: ${(error as Error).message}.`)
  }
}
