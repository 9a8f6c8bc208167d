import { fitsDouble } from '../../lib/core/json/exact-number.ts'
import { type JsonNode, parseJsonTree } from '../schema/json-node.ts'
import type { Parameters } from './run-options.ts'

export type SampleRequest = {
  /** Where `/v1` begins, without a slash at the end. */
  baseUrl: string
  agent: string
  parameters: Parameters
  /** JSON text, or null if it is too long for a sample, which then reads it from a file. */
  input: string | null
}

export const INPUT_FILE = 'input.json'

/** The token is never part of a sample. */
export const TOKEN_VARIABLE = 'AES_TOKEN'

function runUrl({ baseUrl, agent, parameters }: SampleRequest): string {
  const query = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return `${baseUrl}/v1/agents/${encodeURIComponent(agent)}/executions${query.length > 0 ? `?${query.join('&')}` : ''}`
}

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
type Language = {
  indent: string
  name: (name: string) => string
  text: (text: string) => string
  number: (source: string) => string
  boolean: (value: boolean) => string
  null: string
  /** The parts of an object or a list, between their brackets; `indent` is that of the line. */
  wrap: (brackets: '{}' | '[]', parts: string[], indent: string) => string
}

function toLiteral(node: JsonNode, language: Language, indent: string): string {
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

export function toPython(request: SampleRequest): string {
  const body = toPythonBody(request.input)
  return `${['json', 'os', 'urllib.request'].map((name) => `import ${name}`).join('\n')}

request = urllib.request.Request(
    ${JSON.stringify(runUrl(request))},
    data=${body},
    headers={
        "Authorization": f"Bearer {os.environ['${TOKEN_VARIABLE}']}",
        "Content-Type": "application/json",
    },
)
with urllib.request.urlopen(request) as response:
    print(json.load(response))
`
}

function toPythonBody(input: string | null): string {
  if (input === null) return `open("${INPUT_FILE}", "rb").read()`
  const node = parseJsonTree(input)
  return isExact(node)
    ? `json.dumps(${toLiteral(node, PYTHON, '    ')}).encode()`
    : `${JSON.stringify(input)}.encode()`
}

/** Whether Python writes every number as it is: integers of any size, and what a double holds. */
function isExact(node: JsonNode): boolean {
  if (node.type === 'number')
    return node.source !== '-0' && (/^-?\d+$/.test(node.source) || fitsDouble(node.source))
  if (node.type === 'array') return node.items.every(isExact)
  if (node.type !== 'object') return true
  const names = new Set(node.members.map(({ name }) => name))
  return names.size === node.members.length && node.members.every(({ value }) => isExact(value))
}

function wrapPython(brackets: '{}' | '[]', parts: string[], indent: string): string {
  const [open = '', close = ''] = brackets
  if (parts.length === 0) return open + close
  return `${open}\n${parts.map((part) => `${indent}    ${part},`).join('\n')}\n${indent}${close}`
}

/** The escapes that `JSON.stringify` writes mean the same in Python. */
const PYTHON: Language = {
  indent: '    ',
  name: JSON.stringify,
  text: JSON.stringify,
  number: (source) => source,
  boolean: (value) => (value ? 'True' : 'False'),
  null: 'None',
  wrap: wrapPython,
}

/** A program that uses the client of `clients/typescript`. */
export function toTypeScript({ baseUrl, agent, parameters, input }: SampleRequest): string {
  const options = Object.keys(parameters).length > 0 ? `, ${toOptions(parameters)}` : ''
  const imports = ["import { Client } from 'agent-execution-client'"]
  if (input === null) imports.unshift("import { readFile } from 'node:fs/promises'")
  return `${imports.join('\n')}

const client = new Client({
  baseUrl: ${quoteText(baseUrl)},
  token: process.env.${TOKEN_VARIABLE} ?? '',
})
${input === null ? READ_INPUT : ''}const output = await client.run(${quoteText(agent)}, ${input === null ? 'input' : toLiteral(parseJsonTree(input), TYPESCRIPT, '')}${options})
console.log(output)
`
}

/** Numbers that JavaScript would round are sent as they are (Node.js 22 or later). */
const READ_INPUT = `const input = JSON.parse(await readFile('${INPUT_FILE}', 'utf8'), (_, value, { source }) =>
  typeof value === 'number' && String(value) !== source ? JSON.rawJSON(source) : value,
)
`

const MAX_LINE = 60

function wrapTypeScript(brackets: '{}' | '[]', parts: string[], indent: string): string {
  const [open = '', close = ''] = brackets
  if (parts.length === 0) return open + close
  const space = open === '{' ? ' ' : ''
  const line = open + space + parts.join(', ') + space + close
  if (line.length <= MAX_LINE && !line.includes('\n')) return line
  return `${open}\n${parts.map((part) => `${indent}  ${part},`).join('\n')}\n${indent}${close}`
}

/** A literal with the plain name `__proto__` would set the prototype. */
function nameMember(name: string): string {
  if (name === '__proto__') return "['__proto__']"
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoteText(name)
}

const toOptions = (parameters: Parameters) =>
  `{ ${Object.entries(parameters)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? quoteText(value) : value}`)
    .join(', ')} }`

/** Single quotes, like the rest of the sample, unless the text has some. */
function quoteText(text: string): string {
  const quoted = JSON.stringify(text)
  return text.includes("'") ? quoted : `'${quoted.slice(1, -1).replaceAll('\\"', '"')}'`
}

const TYPESCRIPT: Language = {
  indent: '  ',
  name: nameMember,
  text: quoteText,
  number: (source) => (fitsDouble(source) && source !== '-0' ? source : `JSON.rawJSON('${source}')`),
  boolean: String,
  null: 'null',
  wrap: wrapTypeScript,
}
