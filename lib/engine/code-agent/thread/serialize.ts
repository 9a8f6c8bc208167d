import { isWithinDepth, MAX_JSON_DEPTH } from '../../../core/json/json.ts'
import { MAX_SIGNAL_BYTES } from '../../../core/limits.ts'
import { findExcess } from '../../../core/payload-size.ts'
import { describe, StepError, shorten } from './errors.ts'
import type { RunResult } from './protocol.ts'

type Invalid = Omit<Extract<RunResult, { type: 'invalid' }>, 'type'>

/** The JSON of a value, or why it has none. In the thread, so that no value of any kind or size stops the worker. */
export function serialize(title: string, value: unknown, notJson: string): { json: string } | Invalid {
  let json: string | undefined
  try {
    json = JSON.stringify(value)
  } catch (cause) {
    const message = `${title} cannot be serialized as JSON: ${describe(cause).message}`
    return { code: 'OutputSchemaMismatch', message }
  }
  if (json === undefined) return { code: 'OutputSchemaMismatch', message: notJson }
  return findExcess(title, json) ?? { json }
}

/** The value is what another attempt would read. */
export function serializeResult(name: string, computed: unknown): { json: string; value: unknown } {
  const title = `The result of the step "${shorten(name)}"`
  const notJson = `${title} has the type ${typeof computed}, which is not JSON.`
  const result = serialize(title, computed ?? null, notJson)
  if ('message' in result)
    throw result.code === 'OutputTooLarge'
      ? new StepError(result.code, result.message)
      : new Error(result.message)
  const value: unknown = JSON.parse(result.json)
  if (!isWithinDepth(value)) throw new Error(`${title} is nested deeper than ${MAX_JSON_DEPTH} levels.`)
  return { json: result.json, value }
}

/** The JSON of the data, or the schema, of a wait. @throws TypeError, RangeError */
export function serializeData(value: unknown): string {
  const result = serialize('The data of a wait', value, 'The data of a wait must be JSON.')
  if (!('json' in result)) throw new TypeError(result.message)
  if (Buffer.byteLength(result.json) <= MAX_SIGNAL_BYTES) return result.json
  throw new RangeError(`The data of a wait may have at most ${MAX_SIGNAL_BYTES} bytes of JSON.`)
}
