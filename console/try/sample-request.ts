import type { JsonNode } from '../schema/json-node.ts'
import type { Parameters } from './run-options.ts'

/** What a sample of code sends. */
export type SampleRequest = {
  /** Where `/v1` begins, without a slash at the end. */
  baseUrl: string
  agent: string
  parameters: Parameters
  /** JSON text, or null if it is too long for a sample, which then reads it from a file. */
  input: string | null
}

/** The file of an input that is too long. */
export const INPUT_FILE = 'input.json'

/** The token is never part of a sample. */
export const TOKEN_VARIABLE = 'AES_TOKEN'

/** The URL that runs the agent. */
export function runUrl({ baseUrl, agent, parameters }: SampleRequest): string {
  const query = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return `${baseUrl}/v1/agents/${encodeURIComponent(agent)}/executions${query.length > 0 ? `?${query.join('&')}` : ''}`
}

/** A command for POSIX shells. */
export function toCurl(request: SampleRequest): string {
  const { input } = request
  const body = input === null ? `--data-binary @${INPUT_FILE}` : `--data-raw ${quote(input)}`
  return [
    `curl -sS ${quote(runUrl(request))}`,
    `  -H "Authorization: Bearer $${TOKEN_VARIABLE}"`,
    "  -H 'Content-Type: application/json'",
    `  ${body}`,
  ].join(' \\\n')
}

/** Between single quotes, a shell changes nothing. A single quote itself cannot be there. */
const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** How a language writes the values of JSON. */
export type Language = {
  /** One level of indentation. */
  indent: string
  name: (name: string) => string
  text: (text: string) => string
  number: (source: string) => string
  boolean: (value: boolean) => string
  null: string
  /** The parts of an object or a list, between their brackets; `indent` is that of the line. */
  wrap: (brackets: '{}' | '[]', parts: string[], indent: string) => string
}

/** A value as a literal of a language. */
export function toLiteral(node: JsonNode, language: Language, indent: string): string {
  const inner = (child: JsonNode) => toLiteral(child, language, indent + language.indent)
  switch (node.type) {
    case 'object': {
      const parts = node.members.map(({ name, value }) => `${language.name(name)}: ${inner(value)}`)
      return language.wrap('{}', parts, indent)
    }
    case 'array':
      return language.wrap('[]', node.items.map(inner), indent)
    case 'string':
      return language.text(node.value)
    case 'number':
      return language.number(node.source)
    case 'boolean':
      return language.boolean(node.value)
    case 'null':
      return language.null
  }
}
