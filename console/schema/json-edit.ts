import { ExactNumber } from '../../lib/core/json/exact-number.ts'
import { isJsonNumber, type JsonNode } from './json-node.ts'

/** Names of members and indexes of items. */
export type JsonPath = readonly (string | number)[]

/** New parts have no position in a text yet. */
const NOWHERE = { start: 0, end: 0 }

export const textNode = (value: string): JsonNode => ({ ...NOWHERE, type: 'string', value })
export const emptyObject = (): JsonNode => ({ ...NOWHERE, type: 'object', members: [] })
export const emptyList = (): JsonNode => ({ ...NOWHERE, type: 'array', items: [] })

/** A number keeps what was typed. What is not a number becomes text, so that the schema check names it. */
export const numberNode = (typed: string): JsonNode =>
  isJsonNumber(typed) ? { ...NOWHERE, type: 'number', source: typed } : textNode(typed)

/** A node for a value of a schema, such as a default. */
export function valueNode(value: unknown): JsonNode {
  if (typeof value === 'string') return textNode(value)
  if (typeof value === 'number') return { ...NOWHERE, type: 'number', source: JSON.stringify(value) }
  if (typeof value === 'boolean') return { ...NOWHERE, type: 'boolean', value }
  if (value instanceof ExactNumber) return { ...NOWHERE, type: 'number', source: value.text }
  if (Array.isArray(value)) return { ...NOWHERE, type: 'array', items: value.map(valueNode) }
  if (typeof value !== 'object' || value === null) return { ...NOWHERE, type: 'null' }
  const members = Object.entries(value).map(([name, part]) => ({
    name,
    nameStart: 0,
    value: valueNode(part),
  }))
  return { ...NOWHERE, type: 'object', members }
}

/** The last member with the name, as in `JSON.parse`. */
export const getMember = (node: JsonNode | undefined, name: string): JsonNode | undefined =>
  node?.type === 'object' ? node.members.findLast((member) => member.name === name)?.value : undefined

export function getNode(node: JsonNode | undefined, [name, ...rest]: JsonPath): JsonNode | undefined {
  if (name === undefined) return node
  const child = node?.type === 'array' ? node.items[Number(name)] : getMember(node, String(name))
  return getNode(child, rest)
}

/**
 * Replaces, adds or (undefined) removes the part at a path. Missing objects and lists on the way are created.
 * @param order names of the members in the order of the schema: a new member is inserted in that order
 */
export function setNode(
  node: JsonNode | undefined,
  [name, ...rest]: JsonPath,
  value: JsonNode | undefined,
  order: readonly string[] = [],
): JsonNode | undefined {
  if (name === undefined) return value
  return typeof name === 'number'
    ? setItem(node, name, (item) => setNode(item, rest, value, order))
    : setMember(node, name, (member) => setNode(member, rest, value, order), rest.length === 0 ? order : [])
}

type Change = (part: JsonNode | undefined) => JsonNode | undefined

function setItem(node: JsonNode | undefined, index: number, change: Change): JsonNode {
  const items = node?.type === 'array' ? node.items : []
  const changed = change(items[index])
  return { ...NOWHERE, type: 'array', items: items.toSpliced(index, 1, ...(changed ? [changed] : [])) }
}

function setMember(
  node: JsonNode | undefined,
  name: string,
  change: Change,
  order: readonly string[],
): JsonNode {
  const members = node?.type === 'object' ? node.members : []
  const value = change(getMember(node, name))
  const others = members.filter((member) => member.name !== name)
  if (!value) return { ...NOWHERE, type: 'object', members: others }
  const known = members.findIndex((member) => member.name === name)
  const later = new Set(order.slice(order.indexOf(name) + 1))
  const next =
    known >= 0 ? known : members.findIndex((member) => order.includes(name) && later.has(member.name))
  const index = next >= 0 ? next : others.length
  return { ...NOWHERE, type: 'object', members: others.toSpliced(index, 0, { name, nameStart: 0, value }) }
}

/** JSON text, indented by two spaces, or on one line if `indent` is null. Numbers are written as they were typed. */
export function printJson(node: JsonNode, indent: string | null = ''): string {
  const inner = indent === null ? null : `${indent}  `
  switch (node.type) {
    case 'object': {
      const colon = indent === null ? ':' : ': '
      const parts = node.members.map(
        ({ name, value }) => `${JSON.stringify(name)}${colon}${printJson(value, inner)}`,
      )
      return wrap('{', parts, '}', indent)
    }
    case 'array':
      return wrap(
        '[',
        node.items.map((item) => printJson(item, inner)),
        ']',
        indent,
      )
    case 'number':
      return node.source
    case 'null':
      return 'null'
    default:
      return JSON.stringify(node.value)
  }
}

function wrap(open: string, parts: string[], close: string, indent: string | null): string {
  if (parts.length === 0 || indent === null) return `${open}${parts.join(',')}${close}`
  return `${open}\n${parts.map((part) => `${indent}  ${part}`).join(',\n')}\n${indent}${close}`
}
