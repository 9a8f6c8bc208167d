import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts'
import { findEqualNames } from './names/find-field.ts'
import type { NameIndex } from './names/name-index.ts'
import { findNestedInput, isEnvelope, type Opened, openValue } from './nested-input.ts'
import type { Shape } from './shape.ts'

/**
 * Returns the fields inside an envelope: an object whose only field has the name of an envelope, possibly nested, or a
 * tool call; around a whole input also an object with other fields (`findNestedInput`). Undefined unless the shape
 * declares one of the fields inside and none outside. If the shape allows other fields, the field inside must be
 * required; if it has a schema for other fields, an envelope counts as such a field.
 */
export function unwrapEnvelope(
  shape: Shape,
  sent: JsonObject,
  isRoot: boolean,
  index: NameIndex,
): Opened | undefined {
  if (shape.others) return undefined
  const call = isRoot && shape.isClosed ? openToolCall(shape, sent) : undefined
  if (call) return call
  if (Object.keys(sent).some((name) => index.findEqual(shape, name).length > 0)) return undefined
  return openSoleEnvelope(shape, sent) ?? (isRoot ? findNestedInput(shape, sent) : undefined)
}

function openSoleEnvelope(shape: Shape, sent: JsonObject): Opened | undefined {
  const path: string[] = []
  for (let fields = sent; ; ) {
    const [name, second] = Object.keys(fields)
    if (name === undefined || second !== undefined || !isEnvelope(name)) return undefined
    const inner = openValue(fields[name] ?? null)
    if (!inner) return undefined
    path.push(name, ...inner.path)
    fields = inner.fields
    if (hasDeclaredField(shape, fields)) return { path, fields }
  }
}

/**
 * The fields around the arguments of a tool call describe the call, even if the shape declares one with such a name;
 * but a call that consists of a name and arguments may also be an object that has a name.
 */
function openToolCall(shape: Shape, sent: JsonObject): Opened | undefined {
  const path = findToolArguments(sent)
  if (!path || shape.fields.has(path[0] ?? '')) return undefined
  if (sent.type === undefined && Object.hasOwn(sent, 'name') && shape.fields.has('name')) return undefined
  const value = path.reduce<Json>((inner, name) => (inner as JsonObject)[name] ?? null, sent)
  const opened = openValue(value)
  if (!opened || !hasDeclaredField(shape, opened.fields)) return undefined
  return { path: [...path, ...opened.path], fields: opened.fields }
}

/** Whether the shape declares one of the names, except for case and separators. */
export function hasDeclaredField(shape: Shape, fields: JsonObject): boolean {
  const names = Object.keys(fields)
  if (names.length === 0) return shape.isClosed && shape.fields.size > 0
  return names.some((name) =>
    findEqualNames(shape, name).some(({ isRequired }) => shape.isClosed || isRequired),
  )
}

/** How tool calls are recognized: a field with this value, and the path of the arguments. */
const TOOL_CALLS: { field: string; value: string; path: string[] }[] = [
  // Anthropic
  { field: 'type', value: 'tool_use', path: ['input'] },
  // OpenAI: chat completions, and responses
  { field: 'type', value: 'function', path: ['function', 'arguments'] },
  { field: 'type', value: 'function_call', path: ['arguments'] },
  // AI SDK
  { field: 'type', value: 'tool-call', path: ['input'] },
  // Model Context Protocol
  { field: 'method', value: 'tools/call', path: ['params', 'arguments'] },
]

/** The names of arguments in a call that consists of a name, arguments and perhaps an id. */
const ARGUMENTS = ['arguments', 'input', 'args', 'parameters']
const NAME_AND_ID = new Set(['name', 'id', 'call_id'])

/** Where messages of models contain tool calls. */
const CONTAINERS = 'choices message content output tool_calls function_call functionCall params'.split(' ')

const MAX_LEVELS = 4

/** The path of the arguments of the only tool call in an object; undefined for any other object. */
function findToolArguments(value: Json, levels = MAX_LEVELS): string[] | undefined {
  if (!isJsonObject(value)) return undefined
  const call = TOOL_CALLS.find(({ field, value: expected }) => value[field] === expected)
  if (call) return Object.hasOwn(value, call.path[0] ?? '') ? call.path : undefined
  const named = argumentsOfNamedCall(value)
  if (named !== undefined) return [named]
  if (levels === 0) return undefined
  const found = CONTAINERS.flatMap((name) => findInContainer(name, value[name] ?? null, levels - 1))
  return found.length === 1 ? found[0] : undefined
}

function argumentsOfNamedCall(value: JsonObject): string | undefined {
  const others = Object.keys(value).filter((name) => !NAME_AND_ID.has(name))
  const [name = ''] = others
  return typeof value.name === 'string' && others.length === 1 && ARGUMENTS.includes(name) ? name : undefined
}

function findInContainer(name: string, container: Json, levels: number): string[][] {
  const items = Array.isArray(container) ? container : [container]
  return items.flatMap((item, index) => {
    const path = findToolArguments(item, levels)
    return path ? [[name, ...(Array.isArray(container) ? [`${index}`] : []), ...path]] : []
  })
}
