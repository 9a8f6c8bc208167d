import { fitsDouble } from '../../../lib/core/exact-number.ts'
import { type JsonNode, parseJsonTree } from '../../schema/json/json-node.ts'
import type { Parameters } from '../run-options.ts'
import { INPUT_FILE, type SampleRequest, TOKEN_VARIABLE } from './sample-request.ts'

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
${input === null ? READ_INPUT : ''}const output = await client.run(${toText(agent)}, ${input === null ? 'input' : toLiteral(parseJsonTree(input), '')}${options})
console.log(output)
`
}

/** Numbers that JavaScript would round are sent as they are (Node.js 22 or later). */
const READ_INPUT = `const input = JSON.parse(await readFile('${INPUT_FILE}', 'utf8'), (_, value, { source }) =>
  typeof value === 'number' && String(value) !== source ? JSON.rawJSON(source) : value,
)
`

function toLiteral(node: JsonNode, indent: string): string {
  const inner = `${indent}  `
  switch (node.type) {
    case 'object':
      return wrap(
        '{ ',
        node.members.map(({ name, value }) => `${toName(name)}: ${toLiteral(value, inner)}`),
        ' }',
        indent,
      )
    case 'array':
      return wrap(
        '[',
        node.items.map((item) => toLiteral(item, inner)),
        ']',
        indent,
      )
    case 'string':
      return toText(node.value)
    case 'number':
      return fitsDouble(node.source) && node.source !== '-0' ? node.source : `JSON.rawJSON('${node.source}')`
    case 'boolean':
      return String(node.value)
    case 'null':
      return 'null'
  }
}

const MAX_LINE = 60

function wrap(open: string, parts: string[], close: string, indent: string): string {
  if (parts.length === 0) return open.trim() + close.trim()
  const line = open + parts.join(', ') + close
  if (line.length <= MAX_LINE && !line.includes('\n')) return line
  return `${open.trim()}\n${parts.map((part) => `${indent}  ${part},`).join('\n')}\n${indent}${close.trim()}`
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
