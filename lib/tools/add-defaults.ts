import { isJsonObject, type Json, type JsonObject } from '../core/json/json.ts'

/** Adds the defaults of the top-level fields that the model omitted. */
export function addDefaults(input: Json, { properties }: JsonObject): Json {
  if (!isJsonObject(input) || !isJsonObject(properties)) return input
  const defaults = Object.entries(properties).flatMap(([name, field]) =>
    isJsonObject(field) && field.default !== undefined ? [[name, field.default] as const] : [],
  )
  return { ...Object.fromEntries(defaults), ...input }
}
