import type { JsonObject } from '../../../lib/core/json.ts'
import { compileCheck, type Issue } from './check-text.ts'
import type { CheckMode } from './compile-validator.ts'

/** `schema`: as the API returns it, a field map or a JSON Schema. */
export type CheckRequest = { text: string; schema: JsonObject; mode: CheckMode }

let compiled: { key: string; check: (text: string) => Issue[] } | undefined

/** Checks a text. Texts are mostly checked again and again with the same schema. */
export function check({ text, schema, mode }: CheckRequest): Issue[] {
  const key = `${mode} ${JSON.stringify(schema)}`
  if (compiled?.key !== key) compiled = { key, check: compileCheck(schema, mode) }
  return compiled.check(text)
}
