import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts'
import { ToolError } from '../tool.ts'

/** As the URL parser leaves `{name}` in a path. */
const PLACEHOLDER = /%7B(\w+)%7D/gi

/** The `{name}` placeholders of a URL's path. */
export function placeholdersOf(url: string): string[] {
  return [...new URL(url).pathname.matchAll(PLACEHOLDER)].map(([, name]) => name ?? '')
}

/**
 * The URL with its placeholders filled in. A value stays within its path segment: whatever could end it, or mean
 * another one, is refused.
 * @throws ToolError that names the input
 */
export function fillPath(template: string, input: JsonObject): URL {
  const url = new URL(template)
  const path = url.pathname.replace(PLACEHOLDER, (_, name: string) => segmentOf(name, input[name]))
  url.pathname = path
  if (url.pathname !== path) throw new ToolError('The inputs would change the path of the URL.')
  return url
}

/** Appends inputs to the query: a list repeats its name, an object goes as JSON, null is left out. */
export function appendQuery(url: URL, inputs: JsonObject): void {
  for (const [name, value] of Object.entries(inputs)) {
    for (const entry of Array.isArray(value) ? value : [value]) {
      if (entry !== null) url.searchParams.append(name, textOf(entry))
    }
  }
}

function segmentOf(name: string, value: Json | undefined): string {
  const text = value === undefined || value === null ? '' : textOf(value)
  const refuse = (why: string) =>
    new ToolError(`The input ${name} stands in a URL's path and must not ${why}.`)
  if (text === '') throw refuse('be empty')
  if (text === '.' || text === '..') throw refuse(`be "${text}"`)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  if (/[/\\\u0000-\u001f\u007f]/.test(text)) throw refuse('hold "/", "\\" or control characters')
  if (!text.isWellFormed()) throw refuse('hold half a character')
  return encodeURIComponent(text)
}

const textOf = (value: Json): string =>
  isJsonObject(value) || Array.isArray(value) ? JSON.stringify(value) : String(value)
