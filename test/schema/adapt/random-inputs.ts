import type { Json, JsonObject } from '../../../lib/core/json/json.ts'
import type { Random } from '../../support/data/random.ts'

type List<T> = readonly [T, ...T[]]

const NAMES: List<string> = [
  'input',
  'data',
  'Data',
  'payload',
  'fields',
  'attributes',
  'function',
  'arguments',
  'type',
  'method',
  'params',
  'event',
  'qty',
  'desc',
  'adress',
  'msg',
  '@id',
  'tags[]',
  'a.b',
  'items[0][sku]',
  '__proto__',
  'toString',
  '',
]

const TEXTS: List<string> = [
  '',
  ' ',
  'x',
  ' small ',
  'Medium',
  'yes',
  'off',
  '1',
  '0',
  '-1',
  '3.0',
  '007',
  '1,200',
  '1.234,56',
  '1 234,5',
  '1,2,3',
  '1;2',
  'a, b',
  'a@x.org;b@x.org',
  'true',
  'null',
  '2024-03-05',
  '2024/03/05',
  '5 March 2024',
  'Tue, 05 Mar 2024 14:30:00 GMT',
  'tool_use',
  'tools/call',
  '{"id": 1}',
  '[1]',
  '[{"tags": "x"}]',
  '"{\\"id\\": \\"1\\"}"',
  '```json\n{"id": 1}\n```',
  '{"id": 12345678901234567890}',
  '{"id"',
]

const NUMBERS: List<number> = [0, 1, -1, 2, 3.5, 1e21, 45356, 1709640000]

/** Ways to write a name, most of them wrong in one way. */
const SPELLINGS: List<(name: string) => string> = [
  (name) => name,
  (name) => name,
  (name) => name,
  (name) => name.toUpperCase(),
  (name) => name.replace(/(?<=\p{Ll})(?=\p{Lu})/gu, '_').toLowerCase(),
  (name) => `${name}s`,
  (name) => name.slice(0, -1),
  (name) => name.slice(0, 2) + name.slice(3),
  (name) => `order_${name}`,
  (name) => `is_${name}`,
  (name) => `${name}.id`,
  (name) => `${name}[0]`,
  (name) => `${name}_id`,
]

/** Random inputs that use the names of a schema, in other spellings and places, and values of all kinds. */
export function createInputs(schema: JsonObject, random: Random): () => JsonObject {
  const [first, ...others] = namesIn(schema)
  const valueAt = (depth: number): Json => {
    const kind = random.between(0, depth > 2 ? 5 : 7)
    if (kind < 4) return random.pick(TEXTS)
    if (kind === 4) return random.pick(NUMBERS)
    if (kind === 5) return random.pick([true, false, null])
    if (kind === 6) return objectAt(depth + 1)
    return Array.from({ length: random.between(0, 2) }, () => valueAt(depth + 1))
  }
  const nameOf = () =>
    first !== undefined && random.between(0, 3) > 0
      ? random.pick(SPELLINGS)(random.pick([first, ...others]))
      : random.pick(NAMES)
  const objectAt = (depth: number): JsonObject => {
    const entries = Array.from({ length: random.between(0, 3) }, () => [nameOf(), valueAt(depth)] as const)
    return Object.freeze(Object.fromEntries(entries))
  }
  return () => objectAt(0)
}

function namesIn(value: Json): string[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap(namesIn)
  const { properties } = value
  const own = typeof properties === 'object' && properties !== null ? Object.keys(properties) : []
  return [...new Set([...own, ...Object.values(value).flatMap(namesIn)])]
}
