import type { JsonNode } from '../schema/json-node.ts'

/**
 * A value as YAML 1.2 in block style. Texts are in double quotes with the escapes of JSON unless they are plain beyond
 * doubt, so that every reader gets the same value. Numbers are written as they were typed.
 * @param indent spaces before each line
 */
export function toYaml(node: JsonNode, indent = ''): string {
  if (node.type === 'object' && node.members.length > 0)
    return membersOf(node)
      .map(([name, value]) => `${indent}${toKey(name, indent)}${toValue(value, indent)}`)
      .join('\n')
  if (node.type === 'array' && node.items.length > 0)
    return node.items.map((item) => toItem(item, indent)).join('\n')
  return `${indent}${toScalar(node, indent)}`
}

/** Of several members with the same name the last one, as in `JSON.parse`: YAML allows only one. */
const membersOf = ({ members }: Extract<JsonNode, { type: 'object' }>): [string, JsonNode][] => [
  ...new Map(members.map(({ name, value }) => [name, value])),
]

const isBlock = (node: JsonNode): boolean =>
  (node.type === 'object' && node.members.length > 0) || (node.type === 'array' && node.items.length > 0)

/** What follows a key. */
const toValue = (node: JsonNode, indent: string): string =>
  isBlock(node) ? `\n${toYaml(node, `${indent}  `)}` : ` ${toScalar(node, indent)}`

/** The first line of a nested block is that of its dash. */
function toItem(node: JsonNode, indent: string): string {
  const inner = `${indent}  `
  return isBlock(node)
    ? `${indent}- ${toYaml(node, inner).slice(inner.length)}`
    : `${indent}- ${toScalar(node, indent)}`
}

/** YAML allows at most 1,024 characters before a colon on the same line. */
const MAX_KEY = 1_000

function toKey(name: string, indent: string): string {
  const key = isPlain(name) ? name : quote(name)
  return key.length <= MAX_KEY ? `${key}:` : `? ${key}\n${indent}:`
}

function toScalar(node: JsonNode, indent: string): string {
  switch (node.type) {
    case 'object':
      return '{}'
    case 'array':
      return '[]'
    case 'string':
      return toText(node.value, indent)
    case 'number':
      return node.source
    case 'boolean':
      return String(node.value)
    case 'null':
      return 'null'
  }
}

function toText(text: string, indent: string): string {
  if (isPlain(text)) return text
  return isLiteral(text) ? toLiteralBlock(text, `${indent}  `) : quote(text)
}

/** Words. What other readers take for a boolean, null or a number is none: those need quotes. */
const isPlain = (text: string): boolean =>
  /^[A-Za-z_][\w-]*(?: [\w-]+)*$/.test(text) &&
  text.length <= 120 &&
  !/^(?:true|false|null|yes|no|on|off|y|n|nan|inf)$/i.test(text)

/** Lines that a block keeps as they are: printable, without spaces at their beginning or end. */
const isLiteral = (text: string): boolean =>
  text.includes('\n') &&
  /^[^\s](?:.*[^\s])?(?:\n(?:[^\n]*[^\s])?)*\n?$/.test(text) &&
  !text.endsWith('\n\n') &&
  text.isWellFormed() &&
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for.
  !/[\x00-\x09\x0b-\x1f\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff]|\n\n$/.test(text)

function toLiteralBlock(text: string, indent: string): string {
  const end = text.endsWith('\n')
  const lines = (end ? text.slice(0, -1) : text).split('\n')
  return `${end ? '|' : '|-'}\n${lines.map((line) => (line === '' ? '' : indent + line)).join('\n')}`
}

/** The escapes that `JSON.stringify` writes mean the same in YAML. Others are for characters that it ends lines by. */
const quote = (text: string): string =>
  JSON.stringify(text).replace(
    /[\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
