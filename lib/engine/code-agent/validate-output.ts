import { type ExecutionError, failure, NO_USAGE, type Outcome } from '../../core/execution.ts'
import { isJsonObject, isWithinDepth, MAX_JSON_DEPTH } from '../../core/json.ts'
import { MAX_PAYLOAD_BYTES } from '../../core/limits.ts'
import type { Validator } from '../../schema/validate/validate.ts'

/** The outcome for a value returned by an agent: a valid output, or the error that explains why it is invalid. */
export function validateOutput(returned: unknown, check: Validator): Outcome {
  let text: string | undefined
  try {
    text = JSON.stringify(returned)
  } catch (error) {
    return failure(mismatch(`The output cannot be serialized as JSON: ${(error as Error).message}`))
  }
  const output: unknown = text === undefined ? undefined : JSON.parse(text)
  if (!isJsonObject(output)) return failure(mismatch('The output must be a JSON object.'))
  if (!isWithinDepth(output))
    return failure(mismatch(`The output is nested deeper than ${MAX_JSON_DEPTH} levels.`))
  const bytes = Buffer.byteLength(text ?? '')
  if (bytes > MAX_PAYLOAD_BYTES) {
    const message = `The output has ${bytes} bytes; the limit is ${MAX_PAYLOAD_BYTES}.`
    return failure({ code: 'OutputTooLarge', message })
  }
  const errors = check(output)
  if (errors.length > 0)
    return failure({ ...mismatch('The output does not match the output schema.'), errors })
  return { status: 'SUCCESS', output, steps: 0, usage: NO_USAGE, model: null }
}

const mismatch = (message: string): ExecutionError => ({ code: 'OutputSchemaMismatch', message })
