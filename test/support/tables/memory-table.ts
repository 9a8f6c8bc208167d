import { isDeepStrictEqual } from 'node:util'
import { inject } from 'vitest'
import { Unavailable, WriteRejected } from '../../../lib/core/errors.ts'
import { expressions, type Item } from '../../../lib/dynamodb/table/expressions.ts'
import type { Key } from '../../../lib/dynamodb/table/keys.ts'
import { retention } from '../../../lib/dynamodb/table/retention.ts'
import { INDEXES } from '../../../lib/dynamodb/table/schema.ts'
import { openTable, type Query, type Table } from '../../../lib/dynamodb/table/table.ts'
import { system } from '../../../lib/system.ts'
import { provisionTable } from '../../../local/emulators/provision.ts'
import { scanTable } from './scan-table.ts'

/** A table of its own for a test file: in memory, and in the night, where the same cases are played, on the emulator. */
export async function ownTable(): Promise<Table> {
  if (!inject('isNightly')) return memoryTable()
  const environment = { TABLE_NAME: `own-${system.newId()}`, DYNAMODB_ENDPOINT: inject('dynamodb') }
  await provisionTable(environment.DYNAMODB_ENDPOINT, environment.TABLE_NAME)
  return openTable(environment)
}

/** All items of a table that `ownTable` has returned. */
export const scan = async (table: Table): Promise<Item[]> =>
  [...(contents.get(table)?.values() ?? (await scanTable(inject('dynamodb'), table.name)))].map((item) =>
    only(item),
  )

const contents = new WeakMap<Table, Map<string, Item>>()

type Scope = {
  ExpressionAttributeNames?: Record<string, string> | undefined
  ExpressionAttributeValues?: Item | undefined
}

/**
 * A table in this process, for tests of logic that play many cases: conditions, indexes and pages are those of
 * DynamoDB.
 */
export function memoryTable(): Table {
  const { expiryOf, timeToLiveOf } = retention({})
  const items = new Map<string, Item>()
  const find = (key: Key | Item) => items.get(nameOf(key))
  const store = (item: Item) => {
    if (bytesOf(item) > MAX_BYTES) throw new WriteRejected(new Error('Item size has exceeded the maximum.'))
    items.set(nameOf(item), clean(item) as Item)
  }
  const mayWrite = (key: Key | Item, { ConditionExpression, ...scope }: ReturnType<typeof expressions>) =>
    !ConditionExpression || holds(ConditionExpression, find(key) ?? {}, scope)
  /** Without copies: there are many items, and most of them are in other partitions. */
  const inPartition = (name: string, value: unknown, sortKey: string) =>
    [...items.values()].filter((item) => item[name] === value && sortKey in item)

  const table: Omit<Table, 'ping'> = {
    name: 'memory',
    expiryOf,
    async get(key, { attributes }) {
      const item = find(key)
      return item ? only(item, attributes) : null
    },
    async put(item, condition, sendBefore) {
      checkTime(sendBefore)
      const mayPut = mayWrite(item, expressions({ condition }))
      if (mayPut) store({ ...item, ...timeToLiveOf(item) })
      return mayPut
    },
    async update(key, change) {
      checkTime(change.sendBefore)
      const set = { ...change.set, ...timeToLiveOf({ ...change.set, ...key }) }
      const request = expressions({ ...change, set })
      if (!mayWrite(key, request)) return null
      const before = find(key) ?? {}
      const value = (name: string) => request.ExpressionAttributeValues?.[`:${name}`]
      const after: Item = { ...before, ...key }
      for (const name of Object.keys(set)) if (set[name] !== undefined) after[name] = value(name)
      for (const name of Object.keys(change.setOnce ?? {})) after[name] = before[name] ?? value(name)
      for (const [name, from] of Object.entries(change.copy ?? {})) after[name] = before[from]
      for (const name of change.remove ?? []) delete after[name]
      for (const [name, by] of Object.entries(change.add ?? {})) after[name] = Number(before[name] ?? 0) + by
      for (const [name, values] of Object.entries(change.include ?? {}))
        after[name] = new Set([...((before[name] ?? []) as Set<string>), ...values])
      for (const [name, values] of Object.entries(change.exclude ?? {})) {
        const left = [...((before[name] ?? []) as Set<string>)].filter((each) => !values.has(each))
        after[name] = left.length > 0 ? new Set(left) : undefined
      }
      store(after)
      return clean(after) as Item
    },
    async delete(key, condition) {
      if (mayWrite(key, expressions({ condition }))) items.delete(nameOf(key))
    },
    async query(query) {
      const { IndexName: index, KeyConditionExpression, FilterExpression, ExclusiveStartKey } = query
      const keys = index ? [INDEXES[index].partitionKey.name, INDEXES[index].sortKey.name] : ['pk', 'sk']
      const [partitionKey = '', sortKey = ''] = keys
      const partition = query.ExpressionAttributeValues?.[/:\w+/.exec(KeyConditionExpression)?.[0] ?? '']
      const direction = query.ScanIndexForward === false ? -1 : 1
      const compare = (a: Item, b: Item) =>
        direction * (order(a[sortKey], b[sortKey]) || order(nameOf(a), nameOf(b)))
      const rest = inPartition(partitionKey, partition, sortKey)
        .filter((item) => holds(KeyConditionExpression, item, query))
        .filter((item) => !ExclusiveStartKey || compare(item, ExclusiveStartKey) > 0)
        .sort(compare)
      const page = rest.slice(0, query.Limit)
      const last = page.length === query.Limit ? page.at(-1) : undefined
      const found = FilterExpression ? page.filter((item) => holds(FilterExpression, item, query)) : page
      const names = projectionOf(query) ?? (index && ['pk', 'sk', ...keys, ...INDEXES[index].projection])
      return {
        items: found.map((item) => only(item, names)),
        lastKey: last ? only(last, ['pk', 'sk', ...keys]) : null,
      }
    },
    async count(index, partition) {
      const { partitionKey, sortKey } = INDEXES[index]
      return inPartition(partitionKey.name, partition, sortKey.name).length
    },
    async getMany(keys, { attributes }) {
      const names = attributes && ['pk', 'sk', ...attributes]
      return keys
        .map(find)
        .filter((item) => item !== undefined)
        .map((item) => only(item, names))
    },
    async writeMany(writes) {
      for (const write of writes)
        if ('delete' in write) items.delete(nameOf(write.delete))
        else store({ ...write.put, ...timeToLiveOf(write.put) })
    },
  }
  const complete = { ...table, ping: async () => undefined }
  contents.set(complete, items)
  return complete
}

const MAX_BYTES = 400 * 1_024

/** About as DynamoDB counts them. */
function bytesOf(value: unknown): number {
  if (typeof value === 'string' || value instanceof Uint8Array) return value.length
  if (value === null || typeof value !== 'object') return 8
  const members = value instanceof Set ? [...value] : Object.entries(value).flat()
  return members.reduce((sum: number, member) => sum + bytesOf(member), 0)
}

const nameOf = ({ pk, sk }: Key | Item) => `${pk}\n${sk}`
const order = (a: unknown, b: unknown) =>
  a === b ? 0 : (a as string | number) < (b as string | number) ? -1 : 1

function checkTime(sendBefore: number | undefined): void {
  if (sendBefore !== undefined && Date.now() >= sendBefore) throw new Unavailable(new Error('It is late.'))
}

const projectionOf = ({ ProjectionExpression, ExpressionAttributeNames = {} }: Query) =>
  ProjectionExpression?.split(', ').map((name) => ExpressionAttributeNames[name] ?? name)

/** A copy of these or all attributes. */
const only = (item: Item, names?: string[]): Item =>
  clean(names ? Object.fromEntries(names.map((name) => [name, item[name]])) : item) as Item

/** A copy without undefined members, which the SDK does not send. */
function clean(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(clean)
  if (value === null || typeof value !== 'object' || value instanceof Uint8Array) return value
  if (value instanceof Set) return new Set(value)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(members.map(([name, member]) => [name, clean(member)]))
}

/** The functions of expressions, and what their operators become. */
const FUNCTIONS = {
  attribute_exists: (value: unknown) => value !== undefined,
  attribute_not_exists: (value: unknown) => value === undefined,
  begins_with: (text: unknown, prefix: string) => typeof text === 'string' && text.startsWith(prefix),
  between: (value: string, first: string, last: string) => value >= first && value <= last,
  contains: (set: Set<string> | undefined, value: string) => set?.has(value) ?? false,
  size: (set: Set<string>) => set.size,
  same: isDeepStrictEqual,
}

type Test = (functions: typeof FUNCTIONS, at: (path: string) => unknown) => boolean
const compiled = new Map<string, Test>()

function holds(expression: string, item: Item, scope: Scope): boolean {
  const test = compiled.get(expression) ?? compile(expression)
  compiled.set(expression, test)
  const { ExpressionAttributeNames: names = {}, ExpressionAttributeValues: values = {} } = scope
  const member = (from: unknown, name: string) => (from as Item | undefined)?.[names[name] ?? name]
  return test(FUNCTIONS, (path) => (path[0] === ':' ? values[path] : path.split('.').reduce(member, item)))
}

/** An operand is a path or a value. */
const OPERAND = '[#:\\w.]+'

function compile(expression: string): Test {
  const code = expression
    .replace(new RegExp(`(${OPERAND}) BETWEEN (${OPERAND}) AND (${OPERAND})`, 'g'), 'between($1, $2, $3)')
    .replace(new RegExp(`(${OPERAND}) = (${OPERAND})`, 'g'), 'same($1, $2)')
    .replace(new RegExp(`(${OPERAND}) <> (${OPERAND})`, 'g'), '!same($1, $2)')
    .replace(/ AND /g, ' && ')
    .replace(/ OR /g, ' || ')
    .replace(new RegExp(`${OPERAND}(\\()?`, 'g'), (name, isCall) =>
      isCall ? `functions.${name}` : `at('${name}')`,
    )
  return new Function('functions', 'at', `return ${code}`) as Test
}
