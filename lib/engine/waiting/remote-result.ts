import { isJsonObject, type Json } from '../../core/json/json.ts'
import { InputSchemaMismatch } from '../../core/request-errors.ts'

/** No signal can have such a name: only who knows the URL can send what it carries. */
const NAME = /^callback~\d{1,2}$/

/** The name of the wait of a round, and of the signal that ends it. */
export const callbackName = (round: number): string => `callback~${round}`

export const isCallbackName = (name: string): boolean => NAME.test(name)

/** Checks what a remote agent delivers: an output, or an error. @throws InputSchemaMismatch */
export function assertResult(data: Json): void {
  const { output, error } = isJsonObject(data) ? data : {}
  const hasError = isJsonObject(error) && typeof error.message === 'string'
  if ((output === undefined) !== (error === undefined) && (hasError || error === undefined)) return
  const message = 'The body must be { "output": … } or { "error": { "message": "…", "retryable": false } }.'
  throw new InputSchemaMismatch([{ path: '', message }])
}
