import { isJsonObject, type Json, type JsonObject } from '../../../core/json.ts'

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
const CONTAINERS = [
  'choices',
  'message',
  'content',
  'output',
  'tool_calls',
  'function_call',
  'functionCall',
  'params',
]

const MAX_LEVELS = 4

/** The path of the arguments of the only tool call in an object; undefined for any other object. */
export function findToolArguments(value: Json, levels = MAX_LEVELS): string[] | undefined {
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
