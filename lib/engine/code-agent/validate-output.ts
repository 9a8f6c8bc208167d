import { type ExecutionError, failure, NO_USAGE, type Outcome } from '../../core/execution.ts'
import { isJsonObject, isWithinDepth, MAX_JSON_DEPTH } from '../../core/json.ts'
import type { Validator } from '../../schema/validate/validate.ts'

/** The outcome for the JSON returned by an agent: a valid output, or the error that explains why it is invalid. */
export function validateOutput(json: string, check: Validator): Outcome {
  const output: unknown = JSON.parse(json)
  if (!isJsonObject(output)) return failure(mismatch('The output must be a JSON object.'))
  if (!isWithinDepth(output))
    return failure(mismatch(`The output is nested deeper than ${MAX_JSON_DEPTH} levels.`))
  const errors = check(output)
  if (errors.length > 0)
    return failure({ ...mismatch('The output does not match the output schema.'), errors })
  return { status: 'SUCCESS', output, steps: 0, usage: NO_USAGE, model: null }
}

const mismatch = (message: string): ExecutionError => ({ code: 'OutputSchemaMismatch', message })
