import { isJsonObject, type Json, type JsonObject } from '../../lib/core/json.ts'
import { checkDeclaredSchema, type SchemaProblem } from '../../lib/schema/check-declared-schema.ts'
import { compileValidator } from '../../lib/schema/validate/validate.ts'
import { type Difference, findDifferences } from './differences.ts'

/** Under which name the value is validated. */
const VALUE = 'value'

/** Problems of an assertion: an object is a JSON Schema, and any other value has to be equal. */
export function checkAssertion(assertion: Json): SchemaProblem[] {
  if (!isJsonObject(assertion)) return []
  return checkDeclaredSchema(wrap(assertion), { strictTypes: false }).map(({ path, message }) => ({
    path: path.slice(0, 2).join() === `properties,${VALUE}` ? path.slice(2) : [],
    message,
  }))
}

/** How the value at a JSON Pointer of an output violates an assertion; `undefined` if there is no value. */
export function findViolations(pointer: string, actual: Json | undefined, assertion: Json): Difference[] {
  if (!isJsonObject(assertion)) return findDifferences(assertion, actual, { pointer, isPartial: false })
  if (actual === undefined) return [{ pointer, expected: assertion, actual }]
  return compileValidator(wrap(assertion))({ [VALUE]: actual }).map(({ path, message }) => {
    const inside = path.slice(`/${VALUE}`.length)
    return {
      pointer: `${pointer}${inside}`,
      message: message.replaceAll(`/${VALUE}`, pointer || 'output'),
      actual,
    }
  })
}

const wrap = (assertion: JsonObject): JsonObject => ({
  type: 'object',
  properties: { [VALUE]: assertion },
  required: [VALUE],
})
