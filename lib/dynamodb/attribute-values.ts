import type { Item } from './expressions.ts'

/** A value as DynamoDB's protocol has it: one of these, by its type. */
export type AttributeValue =
  | { S: string }
  | { N: string }
  | { BOOL: boolean }
  | { NULL: true }
  /** base64 */
  | { B: string }
  | { L: AttributeValue[] }
  | { M: AttributeMap }

export type AttributeMap = Record<string, AttributeValue>

/** Undefined values are left out. @throws a TypeError for what no item of ours holds, such as a set or a date */
export function toAttributes(item: Item): AttributeMap {
  const attributes: AttributeMap = {}
  for (const name of Object.keys(item)) {
    const value = item[name]
    if (value === undefined) continue
    if (name === '__proto__') define(attributes, name, toAttribute(value))
    else attributes[name] = toAttribute(value)
  }
  return attributes
}

export function fromAttributes(attributes: AttributeMap): Item {
  const item: Item = {}
  for (const name of Object.keys(attributes)) {
    const value = fromAttribute(attributes[name] as AttributeValue)
    if (name === '__proto__') define(item, name, value)
    else item[name] = value
  }
  return item
}

function toAttribute(value: unknown): AttributeValue {
  if (typeof value === 'string') return { S: value }
  if (typeof value === 'boolean') return { BOOL: value }
  if (typeof value === 'number' && Number.isFinite(value)) return { N: String(value) }
  if (value === null) return { NULL: true }
  if (Array.isArray(value)) return { L: value.filter((item) => item !== undefined).map(toAttribute) }
  if (value instanceof Uint8Array) {
    return { B: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64') }
  }
  const prototype = typeof value === 'object' && Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null) return { M: toAttributes(value as Item) }
  throw new TypeError(`DynamoDB has no attribute for ${typeof value} ${String(value)}.`)
}

function fromAttribute(value: AttributeValue): unknown {
  if ('S' in value) return value.S
  if ('N' in value) return Number(value.N)
  if ('BOOL' in value) return value.BOOL
  if ('M' in value) return fromAttributes(value.M)
  if ('L' in value) return value.L.map(fromAttribute)
  if ('B' in value) return bytesOf(value.B)
  if ('NULL' in value) return null
  throw new TypeError(`${Object.keys(value)} is no type of an attribute of ours.`)
}

function bytesOf(base64: string): Uint8Array {
  const { buffer, byteOffset, byteLength } = Buffer.from(base64, 'base64')
  return new Uint8Array(buffer, byteOffset, byteLength)
}

/** Assigned, `__proto__` would be the prototype and no field. */
const define = (target: object, name: string, value: unknown) =>
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true })
