import { fitsDouble } from '../../lib/core/json/exact-number.ts'
import { parseJsonTree } from '../schema/json-node.ts'
import type { Parameters } from './run-options.ts'
import { INPUT_FILE, type Language, type SampleRequest, TOKEN_VARIABLE, toLiteral } from './sample-request.ts'

/** A program that uses the client of `clients/typescript`. */
export function toTypeScript({ baseUrl, agent, parameters, input }: SampleRequest): string {
  const options = Object.keys(parameters).length > 0 ? `, ${toOptions(parameters)}` : ''
  const imports = ["import { Client } from 'agent-execution-client'"]
  if (input === null) imports.unshift("import { readFile } from 'node:fs/promises'")
  return `${imports.join('\n')}

const client = new Client({
  baseUrl: ${toText(baseUrl)},
  token: process.env.${TOKEN_VARIABLE} ?? '',
})
${input === null ? READ_INPUT : ''}const output = await client.run(${toText(agent)}, ${input === null ? 'input' : toLiteral(parseJsonTree(input), TYPESCRIPT, '')}${options})
console.log(output)
`
}

/** Numbers that JavaScript would round are sent as they are (Node.js 22 or later). */
const READ_INPUT = `const input = JSON.parse(await readFile('${INPUT_FILE}', 'utf8'), (_, value, { source }) =>
  typeof value === 'number' && String(value) !== source ? JSON.rawJSON(source) : value,
)
`

const MAX_LINE = 60

/** In one line if it is short. */
function wrap(brackets: '{}' | '[]', parts: string[], indent: string): string {
  const [open = '', close = ''] = brackets
  if (parts.length === 0) return open + close
  const space = open === '{' ? ' ' : ''
  const line = open + space + parts.join(', ') + space + close
  if (line.length <= MAX_LINE && !line.includes('\n')) return line
  return `${open}\n${parts.map((part) => `${indent}  ${part},`).join('\n')}\n${indent}${close}`
}

/** A literal with the plain name `__proto__` would set the prototype. */
function toName(name: string): string {
  if (name === '__proto__') return "['__proto__']"
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : toText(name)
}

const toOptions = (parameters: Parameters) =>
  `{ ${Object.entries(parameters)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? toText(value) : value}`)
    .join(', ')} }`

/** Single quotes, like the rest of the sample, unless the text has some. */
function toText(text: string): string {
  const quoted = JSON.stringify(text)
  return text.includes("'") ? quoted : `'${quoted.slice(1, -1).replaceAll('\\"', '"')}'`
}

const TYPESCRIPT: Language = {
  indent: '  ',
  name: toName,
  text: toText,
  number: (source) => (fitsDouble(source) && source !== '-0' ? source : `JSON.rawJSON('${source}')`),
  boolean: String,
  null: 'null',
  wrap,
}
