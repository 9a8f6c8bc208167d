import * as z from 'zod'
import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts'
import { isJsonPointer, parseJsonPointer } from '../../core/json/pointer.ts'
import { MAX_KEYS } from '../../core/limits.ts'
import { type DeclaredKey, KEY_NAME } from '../../core/search-keys.ts'
import { toJsonSchema } from '../../schema/field-map.ts'
import { findSimilarName } from '../../schema/similar-names.ts'

const NAME_ERROR = 'must begin with a letter and have at most 64 letters, digits, - and _'
const pointer = z
  .string()
  .refine((text) => text !== '' && isJsonPointer(text), 'must be a JSON Pointer to a field, such as /orderId')
  .optional()

export const keySchema = z
  .strictObject({ input: pointer, output: pointer })
  .refine(
    ({ input, output }) => (input === undefined) !== (output === undefined),
    'must have input or output, such as { input: /orderId }',
  )

/** By name. A list in the version: a name can be that of a member of every object. */
export const keysSchema = z
  .record(z.string(), keySchema)
  .superRefine((keys, context) => {
    for (const name of Object.keys(keys).filter((each) => !KEY_NAME.test(each)))
      context.addIssue({ code: 'custom', path: [name], message: NAME_ERROR, input: keys[name] })
  })
  .refine((keys) => Object.keys(keys).length <= MAX_KEYS, `must have at most ${MAX_KEYS} keys`)
  .transform((keys): DeclaredKey[] =>
    Object.entries(keys).map(([name, { input, output }]) =>
      input === undefined
        ? { name, from: 'output', pointer: output ?? '' }
        : { name, from: 'input', pointer: input },
    ),
  )

/** Keys that no execution can have: the schema has no such field, or one that is no text, number or boolean. */
export function findKeyProblems({
  keys = [],
  ...schemas
}: {
  keys?: DeclaredKey[] | undefined
  input: JsonObject
  output: JsonObject
}): { field: string; message: string }[] {
  return keys.flatMap(({ name, from, pointer }) => {
    const message = findProblem(toJsonSchema(schemas[from]), from, parseJsonPointer(pointer))
    return message === null ? [] : [{ field: `keys.${name}.${from}`, message }]
  })
}

/** Null also for what only a validator could tell. */
function findProblem(schema: JsonObject, from: string, path: string[]): string | null {
  let part: Json | undefined = schema
  for (const name of path) {
    if (!isJsonObject(part)) return null
    const { type, properties = {}, items, additionalProperties }: JsonObject = part
    if (type === 'array') part = items
    else if (!isJsonObject(properties)) return null
    else if (Object.hasOwn(properties, name)) part = properties[name]
    else if (additionalProperties !== false) return null
    else {
      const similar = findSimilarName(name, Object.keys(properties))
      const hint = similar === undefined ? '' : `; did you mean "${similar}"?`
      return `must point to a field of the ${from}, which has no "${name}"${hint}`
    }
  }
  const type = isJsonObject(part) ? part.type : undefined
  return type === 'object' || type === 'array'
    ? `must point to a text, a number or a boolean, not to an ${type}`
    : null
}
