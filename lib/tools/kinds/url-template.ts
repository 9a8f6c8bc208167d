import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts'
import { ToolError } from '../tool.ts'

/** `{name}` in a path, after `new URL` has encoded the braces. */
const PLACEHOLDER = /%7B(\w+)%7D/gi

/** The names of the `{name}` placeholders in the path of a URL. */
export function getPlaceholders(url: string): string[] {
  return [...new URL(url).pathname.matchAll(PLACEHOLDER)].map(([, name]) => name ?? '')
}

/**
 * Replaces the placeholders in a URL. Rejects values that would leave their path segment.
 * @throws ToolError that names the input
 */
export function fillPath(template: string, input: JsonObject): URL {
  const url = new URL(template)
  const path = url.pathname.replace(PLACEHOLDER, (_, name: string) => toSegment(name, input[name]))
  url.pathname = path
  if (url.pathname !== path) throw new ToolError('The inputs would change the structure of the URL path.')
  return url
}

/** Appends inputs to the query. Arrays repeat the name, objects are sent as JSON, null is omitted. */
export function appendQuery(url: URL, inputs: JsonObject): void {
  for (const [name, value] of Object.entries(inputs)) {
    for (const entry of Array.isArray(value) ? value : [value]) {
      if (entry !== null) url.searchParams.append(name, toText(entry))
    }
  }
}

function toSegment(name: string, value: Json | undefined): string {
  const text = value === undefined || value === null ? '' : toText(value)
  const invalid = (rule: string) =>
    new ToolError(`The input ${name} is part of the URL path and must not ${rule}.`)
  if (text === '') throw invalid('be empty')
  if (text === '.' || text === '..') throw invalid(`be "${text}"`)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression rejects control characters
  if (/[/\\\u0000-\u001f\u007f]/.test(text)) throw invalid('contain "/", "\\" or control characters')
  if (!text.isWellFormed()) throw invalid('contain an unpaired surrogate')
  return encodeURIComponent(text)
}

const toText = (value: Json): string =>
  isJsonObject(value) || Array.isArray(value) ? JSON.stringify(value) : String(value)
