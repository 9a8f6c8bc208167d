import type { MiddlewareObj } from '@middy/core'
import type * as z from 'zod/mini'
import type { Operation } from '../contract/operations/operation.ts'
import type { ServiceError, Violation } from '../core/errors.ts'
import type { Json, JsonObject } from '../core/json/json.ts'
import { JsonError, parseJson } from '../core/json/parse-json.ts'
import { MAX_PAYLOAD_BYTES } from '../core/limits.ts'
import { InvalidJson, PayloadTooLarge, UnsupportedMediaType } from '../core/request-errors.ts'
import { assertObject, toJsonPointer } from '../schema/message-text.ts'
import { getHeader, type ServiceEvent } from './event.ts'

const JSON_TYPE = /^application\/(?:json|[\w.-]+\+json)\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?;?\s*$/i

export const isJsonType = (type: string): boolean => JSON_TYPE.test(type)

type Expected = Pick<Operation, 'anyBody' | 'maxBodyBytes' | 'optionalBody'>

/** Parses the body. It must be a JSON object, unless the function accepts other values. */
export function jsonBody({ anyBody, optionalBody, maxBodyBytes }: Expected): MiddlewareObj<ServiceEvent> {
  return {
    before: ({ event }) => {
      const none = anyBody ? null : {}
      const value = optionalBody && !event.body ? none : readJson(event, maxBodyBytes)
      event.json = anyBody ? value : assertObject(value)
    },
  }
}

/** The body as JSON. @throws UnsupportedMediaType, InvalidJson, PayloadTooLarge */
export function readJson(event: ServiceEvent, maxBytes = MAX_PAYLOAD_BYTES): Json {
  const encoding = getHeader(event, 'Content-Encoding') ?? 'identity'
  if (!isJsonType(getHeader(event, 'Content-Type') ?? '') || encoding.toLowerCase() !== 'identity')
    throw new UnsupportedMediaType()
  const text = decodeBody(event)
  if (text.length > maxBytes || Buffer.byteLength(text) > maxBytes)
    throw new PayloadTooLarge(`The body exceeds the limit of ${maxBytes} bytes.`)
  return parseBody(text)
}

/** @throws InvalidJson if it is empty or not UTF-8 */
export function decodeBody({ body, isBase64Encoded }: ServiceEvent): string {
  if (!body) throw new InvalidJson('The body is empty. Send a JSON object, for example {}.')
  if (!isBase64Encoded) return body
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(body, 'base64'))
  } catch {
    throw new InvalidJson('The body is not valid UTF-8.')
  }
}

/** A byte order mark at the start is ignored. @throws InvalidJson */
export function parseBody(text: string, maxDepth?: number): Json {
  try {
    return parseJson(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text, maxDepth)
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    const location = error.names ? `, at ${toJsonPointer(error.names)}` : ''
    throw new InvalidJson(`The body ${error.message}${location}.`)
  }
}

type Mismatch = new (violations: Violation[]) => ServiceError

/**
 * The members of a body that a schema describes.
 * @param kind of the members, for example "feedback field"
 * @throws Mismatch with one violation for each invalid member
 */
export function checkMembers<Schema extends z.ZodMiniObject>(
  schema: Schema,
  body: JsonObject,
  { kind, Mismatch }: { kind: string; Mismatch: Mismatch },
): z.output<Schema> {
  const { data, error } = schema.safeParse(body)
  if (!error) return data
  throw new Mismatch(
    error.issues.flatMap((issue) => {
      const path = issue.path.map(String)
      if (issue.code !== 'unrecognized_keys') return toViolation(path, issue.message)
      const allowed = Object.keys(objectAt(schema, path).shape).join(', ')
      const unknown = path.length === 0 ? `is not a ${kind}` : 'is unknown'
      return issue.keys.map((name) => toViolation([...path, name], `${unknown}. Allowed fields: ${allowed}`))
    }),
  )
}

/** The schema of an object that may be optional. */
function objectAt(schema: z.ZodMiniObject, path: string[]): z.ZodMiniObject {
  return path.reduce((object, name) => {
    let member: z.core.SomeType = object.shape[name] as z.core.SomeType
    while ('innerType' in member._zod.def) member = member._zod.def.innerType as z.core.SomeType
    return member as z.ZodMiniObject
  }, schema)
}

/** Truncates names, because clients choose them and error responses must stay small. */
function toViolation(names: string[], message: string): Violation {
  const path = toJsonPointer(names.map((name) => name.slice(0, 64)))
  return { path, message: `${path} ${message}.` }
}
