import type { MiddlewareObj } from '@middy/core'
import { InvalidJson, PayloadTooLarge, UnsupportedMediaType } from '../core/errors.ts'
import { isJsonObject, isWithinDepth, type JsonObject, MAX_JSON_DEPTH } from '../core/json.ts'
import { MAX_PAYLOAD_BYTES } from '../core/limits.ts'
import { headerOf, type ServiceEvent } from './event.ts'

const JSON_TYPE = /^application\/(?:json|[\w.-]+\+json)\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?;?\s*$/i

/** Reads the body as a JSON object. */
export function jsonBody(): MiddlewareObj<ServiceEvent> {
  return {
    before: ({ event }) => {
      const encoding = headerOf(event, 'Content-Encoding') ?? 'identity'
      if (!JSON_TYPE.test(headerOf(event, 'Content-Type') ?? '') || encoding.toLowerCase() !== 'identity') {
        throw new UnsupportedMediaType()
      }
      event.json = parseJsonObject(textOf(event))
    },
  }
}

function textOf({ body, isBase64Encoded }: ServiceEvent): string {
  if (!body) throw new InvalidJson('The body is empty. Send a JSON object, for example {}.')
  if (!isBase64Encoded) return body
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(body, 'base64'))
  } catch {
    throw new InvalidJson('The body is not UTF-8 text.')
  }
}

function parseJsonObject(text: string): JsonObject {
  if (text.length > MAX_PAYLOAD_BYTES || Buffer.byteLength(text) > MAX_PAYLOAD_BYTES) {
    throw new PayloadTooLarge(`The body may have ${MAX_PAYLOAD_BYTES} bytes.`)
  }
  const value = parse(text)
  if (!isJsonObject(value)) {
    throw new InvalidJson(`The body is ${kindOf(value)}. Send a JSON object.`)
  }
  if (!isWithinDepth(value)) throw new InvalidJson(`The body nests deeper than ${MAX_JSON_DEPTH} levels.`)
  return value
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
  } catch (error) {
    throw new InvalidJson(`The body is not JSON: ${(error as Error).message}.`)
  }
}

const kindOf = (value: unknown) =>
  Array.isArray(value) ? 'a list' : value === null ? 'null' : `a ${typeof value}`
