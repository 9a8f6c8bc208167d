import { dereference, type Schema, validate } from '@cfworker/json-schema'
import type { Violation } from '../../lib/core/errors.ts'
import { ExactNumber, fitsDouble } from '../../lib/core/json/exact-number.ts'
import type { Json, JsonObject } from '../../lib/core/json/json.ts'
import { parseJsonPointer } from '../../lib/core/json/pointer.ts'
import { toJsonSchema } from '../../lib/schema/field-map.ts'
import { jsonTypeOf, toJsonPointer, withArticle } from '../../lib/schema/message-text.ts'
import { explainErrors } from '../../lib/schema/validate/explain-errors.ts'
import {
  closeObjects,
  roundNumbers,
  type Validator,
  validateExactNumbers,
} from '../../lib/schema/validate/strict-mode.ts'
import { type JsonNode, JsonSyntaxError, LineIndex, readTree, type TextPosition } from './json-node.ts'

/**
 * A mistake in a JSON text. `syntax`: the service would reject the text as it is. `schema`: it would reject it in
 * strict mode and otherwise adapt it, or pass it on unchanged.
 */
export type Issue = TextPosition & {
  kind: 'syntax' | 'schema'
  message: string
  /** JSON Pointer of the part that is wrong. */
  path: string
  /** Of the part in the text, in UTF-16 code units. */
  offset: number
  /** Whether the part is missing. Then the position is that of what should contain it. */
  isMissing: boolean
}

function compileCheck(declared: JsonObject, mode: CheckMode): (text: string) => Issue[] {
  const validate = compileValidator(declared, mode)
  return (text) => checkText(text, validate)
}

function checkText(text: string, validate: Validator): Issue[] {
  const syntax = (message: string, offset: number, path = ''): Issue[] => [
    { kind: 'syntax', path, message, offset, isMissing: false, ...new LineIndex(text).positionOf(offset) },
  ]
  const root = readTree(text)
  if (root instanceof JsonSyntaxError) return syntax(root.message, root.offset)
  const duplicate = findDuplicate(root)
  if (duplicate)
    return syntax(
      `The field ${JSON.stringify(duplicate.path.at(-1))} occurs more than once.`,
      duplicate.offset,
      toJsonPointer(duplicate.path),
    )
  const value = toJson(root)
  if (root.type !== 'object')
    return syntax(`The JSON is ${withArticle(jsonTypeOf(value))}; it must be an object: { … }`, root.start)
  return locate(text, root, validate(value))
}

/** Where violations are in a text, in its order. */
export function locate(
  text: string,
  root: JsonNode,
  violations: readonly Pick<Violation, 'path' | 'message'>[],
): Issue[] {
  if (violations.length === 0) return []
  const lines = new LineIndex(text)
  return violations
    .map(({ path, message }): Issue => {
      const found = findPart(root, path)
      return { kind: 'schema', path, message, ...found, ...lines.positionOf(found.offset) }
    })
    .sort((a, b) => a.offset - b.offset)
}

/** Finds a part by its JSON Pointer, or the nearest part around it: the pointer of the service can be shortened. */
function findPart(root: JsonNode, pointer: string): Pick<Issue, 'offset' | 'isMissing'> {
  let node = root
  let offset = root.start
  for (const name of parseJsonPointer(pointer)) {
    const member = node.type === 'object' ? node.members.findLast((each) => each.name === name) : undefined
    const item = node.type === 'array' ? node.items[Number(name)] : undefined
    const next = member?.value ?? item
    if (!next) return { offset, isMissing: true }
    node = next
    offset = member?.nameStart ?? next.start
  }
  return { offset, isMissing: false }
}

/** The value as the service reads it: a number that a double cannot hold stays exact. */
export function toJson(node: JsonNode): Json {
  switch (node.type) {
    case 'object':
      return Object.fromEntries(node.members.map(({ name, value }) => [name, toJson(value)]))
    case 'array':
      return node.items.map(toJson)
    case 'number':
      return fitsDouble(node.source) ? Number(node.source) : (new ExactNumber(node.source) as unknown as Json)
    case 'null':
      return null
    default:
      return node.value
  }
}

function findDuplicate(
  node: JsonNode,
  path: readonly string[] = [],
): { path: string[]; offset: number } | undefined {
  if (node.type === 'array') {
    for (const [index, item] of node.items.entries()) {
      const found = findDuplicate(item, [...path, String(index)])
      if (found) return found
    }
  }
  if (node.type !== 'object') return undefined
  const names = new Set<string>()
  for (const { name, nameStart, value } of node.members) {
    if (names.has(name)) return { path: [...path, name], offset: nameStart }
    names.add(name)
    const found = findDuplicate(value, [...path, name])
    if (found) return found
  }
  return undefined
}

export type CheckMode = 'strict' | 'adapting'

/** Compiles a schema into the validator of the service, which may take long: a page stops the worker that does. */
export function compileValidator(declared: JsonObject, mode: CheckMode): Validator {
  // `dereference` adds properties to the schema.
  const root = structuredClone(toJsonSchema(declared))
  const lookup = dereference(root as Schema)
  const schema = mode === 'strict' ? closeObjects(root, lookup) : root
  const validateDoubles: Validator = (value) => {
    const { errors } = validate(value, schema as Schema, '2020-12', lookup, false)
    return explainErrors(errors, schema, lookup)
  }
  return mode === 'strict'
    ? (value) => validateExactNumbers(value as Json, validateDoubles)
    : roundNumbers(validateDoubles)
}

/** `schema`: as the API returns it, a field map or a JSON Schema. */
export type CheckRequest = { text: string; schema: JsonObject; mode: CheckMode }

let compiled: { key: string; check: (text: string) => Issue[] } | undefined

/** Checks a text. Texts are mostly checked again and again with the same schema. */
export function check({ text, schema, mode }: CheckRequest): Issue[] {
  const key = `${mode} ${JSON.stringify(schema)}`
  if (compiled?.key !== key) compiled = { key, check: compileCheck(schema, mode) }
  return compiled.check(text)
}
