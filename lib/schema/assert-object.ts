import { InvalidJson } from '../core/errors.ts'
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import { jsonTypeOf, withArticle } from './message-text.ts'

/** A request body that must be a JSON object. @throws InvalidJson */
export function assertObject(body: Json): JsonObject {
  if (isJsonObject(body)) return body
  throw new InvalidJson(`The body is ${withArticle(jsonTypeOf(body))}. Send a JSON object.`)
}
