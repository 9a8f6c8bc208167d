import { inject } from 'vitest'
import { Unavailable, WriteRejected } from '../../../lib/core/errors.ts'
import { type Change, expressions, type Item } from '../../../lib/dynamodb/table/expressions.ts'
import type { Key } from '../../../lib/dynamodb/table/keys.ts'
import { retention } from '../../../lib/dynamodb/table/retention.ts'
import { INDEXES } from '../../../lib/dynamodb/table/schema.ts'
import { openTable, type Query, type Table } from '../../../lib/dynamodb/table/table.ts'
import type { Environment } from '../../../lib/environment.ts'
import { system } from '../../../lib/system.ts'
import { provisionTable } from '../../../local/emulators/provision.ts'
import type { EmulatorName } from './emulators.ts'
import { scanTable } from './sdk.ts'

/** A table of its own for a test file: in memory, and in the night, which plays the same cases, on the emulator. */
export const ownTable = async (emulator: EmulatorName = 'dynamodb'): Promise<Table> =>
  inject('isNightly') ? emulatedTable(emulator) : memoryTable()

/** A table of its own on the emulator. */
export async function emulatedTable(emulator: EmulatorName): Promise<Table> {
  const [endpoint, name] = [inject(emulator), `own-${system.newId()}`]
  await provisionTable(endpoint, name)
  const table = openTable({ TABLE_NAME: name, DYNAMODB_ENDPOINT: endpoint })
  contents.set(table, () => scanTable(endpoint, name))
  return table
}

let shared: Promise<Table> | undefined

/** The table that the test files of a worker share which need no process beside it. */
export const engineTable = (): Promise<Table> => (shared ??= ownTable())

/** All items of a table of this file. */
export const scan = async (table: Table): Promise<Item[]> => (await contents.get(table)?.()) ?? []

const contents = new WeakMap<Table, () => Item[] | Promise<Item[]>>()

/** DynamoDB's limit of an item. */
const MAX_ITEM_BYTES = 400 * 1_024

type Scope = { item: Item; names?: Record<string, string> | undefined; values?: Item | undefined }
type Evaluate = (scope: Scope) => unknown

/**
 * A table in this process, for tests of what is built on the stores: thousands of requests in a second, in the order in
 * which they are sent. It is as consistent as DynamoDB promises for one item, and its indexes are never late. The tests
 * of the stores run on the emulators.
 */
export function memoryTable(environment: Environment = {}): Table {
  /** The items of each partition of the table and of its indexes, by key. */
  const partitions = new Map<string, Map<string, Item>>()
  const partitionOf = (name: string, value: unknown) => {
    const partition = partitions.get(`${name} ${value}`) ?? new Map<string, Item>()
    partitions.set(`${name} ${value}`, partition)
    return partition
  }
  const { expiryOf, timeToLiveOf } = retention(environment)
  const keyOf = ({ pk, sk }: Item) => `${pk} ${sk}`
  const read = (key: Key) => partitionOf('pk', key.pk).get(keyOf(key))
  const remove = (key: Key) => {
    const item = read(key)
    for (const name of PARTITION_KEYS)
      if (item?.[name] !== undefined) partitionOf(name, item[name]).delete(keyOf(key))
  }
  const write = (given: Item) => {
    if (bytesOf(given) > MAX_ITEM_BYTES)
      throw new WriteRejected(new Error('Item size has exceeded the maximum allowed size'))
    remove(given as Key)
    const item = stored(given) as Item
    for (const name of PARTITION_KEYS)
      if (item[name] !== undefined) partitionOf(name, item[name]).set(keyOf(item), item)
  }
  const holds = (key: Key, change: Change) => {
    const { ConditionExpression, ExpressionAttributeNames, ExpressionAttributeValues } = expressions(change)
    const scope = { names: ExpressionAttributeNames, values: stored(ExpressionAttributeValues) as Item }
    return !ConditionExpression || Boolean(compile(ConditionExpression)({ ...scope, item: read(key) ?? {} }))
  }
  const assertInTime = (time = Number.POSITIVE_INFINITY) => {
    if (Date.now() >= time) throw new Unavailable(new Error('The write could not be sent in time.'))
  }

  const table: Table = {
    name: `memory-${system.newId()}`,
    expiryOf,
    ping: async () => undefined,
    get: async (key, { attributes }) => project(read(key), attributes) ?? null,
    getMany: async (keys, { attributes }) =>
      keys
        .map((key) => project(read(key), attributes && ['pk', 'sk', ...attributes]))
        .filter((item) => item !== undefined),

    async put(item, condition, sendBefore) {
      assertInTime(sendBefore)
      const isAllowed = holds(item as Key, { condition })
      if (isAllowed) write({ ...item, ...timeToLiveOf(item) })
      return isAllowed
    },

    async update(key, change) {
      assertInTime(change.sendBefore)
      if (!holds(key, change)) return null
      const set = { ...change.set, ...timeToLiveOf({ ...change.set, ...key }) }
      write(changed(read(key) ?? key, { ...change, set }))
      return project(read(key)) as Item
    },

    async delete(key, condition) {
      // As DynamoDB does: a key has no other attributes.
      if (Object.keys(key).length !== 2) throw new Error('The provided key element does not match the schema')
      if (holds(key, { condition })) remove(key)
    },

    async writeMany(writes) {
      for (const each of writes)
        if ('delete' in each) remove(each.delete)
        else write({ ...each.put, ...timeToLiveOf(each.put) })
    },

    async count(index, partition, prefix = '') {
      const { partitionKey, sortKey } = INDEXES[index]
      const items = [...partitionOf(partitionKey.name, partition).values()]
      return items.filter((item) => String(item[sortKey.name]).startsWith(prefix)).length
    },

    async query(query) {
      const { ExpressionAttributeNames: names, ExpressionAttributeValues: values } = query
      const { Limit, ExclusiveStartKey } = query
      const index = query.IndexName ? INDEXES[query.IndexName] : null
      const partitionKey = index?.partitionKey.name ?? 'pk'
      const order = index ? [index.sortKey.name, 'pk', 'sk'] : ['sk']
      const [, partition = ''] = /= (:\w+)/.exec(query.KeyConditionExpression) ?? []
      const isSelected = compile(query.KeyConditionExpression)
      const passes = query.FilterExpression ? compile(query.FilterExpression) : () => true
      const direction = query.ScanIndexForward === false ? -1 : 1
      const isAfter = (item: Item) =>
        !ExclusiveStartKey || compareBy(order, item, ExclusiveStartKey) * direction > 0
      const found = [...partitionOf(partitionKey, values?.[partition]).values()].filter(
        (item) =>
          order.every((name) => item[name] !== undefined) &&
          isSelected({ item, names, values }) &&
          isAfter(item),
      )
      found.sort((a, b) => compareBy(order, a, b) * direction)
      const page = found.slice(0, Limit)
      const last = page.length < found.length ? page.at(-1) : undefined
      const attributes = projectionOf(query)
      const items = page.filter((item) => passes({ item, names, values }))
      return {
        items: items.map((item) => project(item, attributes) as Item),
        lastKey: project(last, [partitionKey, ...order, 'pk']) ?? null,
      }
    },
  }
  contents.set(table, () =>
    [...partitions]
      .filter(([name]) => name.startsWith('pk '))
      .flatMap(([, partition]) => [...partition.values()].map((item) => project(item) as Item)),
  )
  return table
}

/** About as DynamoDB counts them. */
function bytesOf(value: unknown): number {
  if (typeof value === 'string' || value instanceof Uint8Array) return value.length
  if (value === null || typeof value !== 'object') return 8
  const members = value instanceof Set ? [...value] : Object.entries(value).flat()
  return members.reduce((sum: number, member) => sum + bytesOf(member), 0)
}

const PARTITION_KEYS = ['pk', ...Object.values(INDEXES).map(({ partitionKey }) => partitionKey.name)]

function projectionOf({ IndexName, ProjectionExpression, ...query }: Query): string[] | undefined {
  if (ProjectionExpression)
    return ProjectionExpression.split(', ').map((name) => query.ExpressionAttributeNames?.[name] ?? name)
  if (!IndexName) return undefined
  const { partitionKey, sortKey, projection } = INDEXES[IndexName]
  return ['pk', 'sk', partitionKey.name, sortKey.name, ...projection]
}

function compareBy(names: string[], a: Item, b: Item): number {
  for (const name of names) {
    const [left, right] = [a[name] as string, b[name] as string]
    if (left !== right) return left < right ? -1 : 1
  }
  return 0
}

/** Copies of these attributes, or of all. */
function project(item: Item | undefined, attributes = Object.keys(item ?? {})): Item | undefined {
  return item && (stored(Object.fromEntries(attributes.map((name) => [name, item[name]]))) as Item)
}

/** A copy without what is undefined, as the SDK sends it. */
function stored(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stored)
  if (value instanceof Set) return new Set(value)
  if (value === null || typeof value !== 'object' || ArrayBuffer.isView(value)) return value
  const copy: Item = {}
  for (const name in value) {
    const part = (value as Item)[name]
    if (part !== undefined) copy[name] = stored(part)
  }
  return copy
}

function changed(
  item: Item,
  { set = {}, setOnce = {}, copy = {}, remove = [], add = {}, include = {}, exclude = {} }: Change,
) {
  const result = { ...item }
  for (const [name, value] of Object.entries(set)) if (value !== undefined) result[name] = value
  for (const [name, value] of Object.entries(setOnce)) if (item[name] === undefined) result[name] = value
  for (const [name, from] of Object.entries(copy)) {
    if (item[from] === undefined) throw new Error(`The item has no ${from}.`)
    result[name] = item[from]
  }
  for (const name of remove) delete result[name]
  for (const [name, count] of Object.entries(add)) result[name] = Number(item[name] ?? 0) + count
  const setOf = (name: string) => (item[name] as Set<string> | undefined) ?? new Set<string>()
  for (const [name, values] of Object.entries(include)) result[name] = new Set([...setOf(name), ...values])
  for (const [name, values] of Object.entries(exclude)) {
    const left = new Set([...setOf(name)].filter((value) => !values.has(value)))
    // There are no empty sets.
    result[name] = left.size > 0 ? left : undefined
  }
  return result
}

const compiled = new Map<string, Evaluate>()

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html */
function compile(expression: string): Evaluate {
  const known = compiled.get(expression)
  if (known) return known
  const tokens = expression.match(/<=|>=|<>|[=<>(),]|[#:\w.]+/g) ?? []
  const take = (...expected: string[]) => (expected.includes(tokens[0] ?? '') ? tokens.shift() : undefined)
  const terms = (read: () => Evaluate, word: string, method: 'some' | 'every'): Evaluate => {
    const list = [read()]
    while (take(word)) list.push(read())
    return list.length === 1 ? (list[0] as Evaluate) : (scope) => list[method]((term) => term(scope))
  }
  const any = (): Evaluate => terms(all, 'OR', 'some')
  const all = (): Evaluate => terms(comparison, 'AND', 'every')
  const comparison = (): Evaluate => {
    const left = operand()
    if (take('BETWEEN')) {
      const [first] = [operand(), take('AND')]
      const last = operand()
      return (scope) =>
        COMPARE['>=']?.(left(scope), first(scope)) && COMPARE['<=']?.(left(scope), last(scope))
    }
    const compare = COMPARE[take(...Object.keys(COMPARE)) ?? '']
    if (!compare) return left
    const right = operand()
    return (scope) => compare(left(scope), right(scope))
  }
  const operand = (): Evaluate => {
    if (take('(')) {
      const [inner] = [any(), take(')')]
      return inner
    }
    const token = tokens.shift() ?? ''
    const call = FUNCTIONS[token]
    if (!call)
      return token.startsWith(':') ? ({ values }) => values?.[token] : (scope) => resolve(scope, token)
    take('(')
    const parameters = [operand()]
    while (take(',')) parameters.push(operand())
    take(')')
    return (scope) => call(...parameters.map((parameter) => parameter(scope)))
  }
  const evaluate = any()
  if (tokens.length > 0) throw new Error(`Unknown syntax: ${expression}`)
  compiled.set(expression, evaluate)
  return evaluate
}

const resolve = ({ item, names }: Scope, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (value as Item | undefined)?.[names?.[name] ?? name], item)

const ordered = (holds: (a: string, b: string) => boolean) => (a: unknown, b: unknown) =>
  typeof a === typeof b && a !== undefined && holds(a as string, b as string)
const isEqual = (a: unknown, b: unknown) =>
  a === b || (typeof a === 'object' && JSON.stringify(a) === JSON.stringify(b))

const COMPARE: Record<string, (a: unknown, b: unknown) => boolean> = {
  '=': (a, b) => a !== undefined && isEqual(a, b),
  '<>': (a, b) => !isEqual(a, b),
  '<': ordered((a, b) => a < b),
  '<=': ordered((a, b) => a <= b),
  '>': ordered((a, b) => a > b),
  '>=': ordered((a, b) => a >= b),
}

const FUNCTIONS: Record<string, (...values: unknown[]) => unknown> = {
  attribute_exists: (value) => value !== undefined,
  attribute_not_exists: (value) => value === undefined,
  begins_with: (text, prefix) => typeof text === 'string' && text.startsWith(String(prefix)),
  contains: (list, value) =>
    list instanceof Set ? list.has(value) : String(list ?? '').includes(String(value)),
  size: (value) => (value instanceof Set ? value.size : (value as string | undefined)?.length),
}
