import type { Table } from '../../../lib/dynamodb/table/table.ts'

const METHODS = ['get', 'getMany', 'put', 'update', 'query', 'delete', 'writeMany'] as const

type Send = (...args: never[]) => Promise<unknown>

/** A table whose requests are sent as `wrap` says. */
export function wrapTable(table: Table, wrap: (method: string, send: Send) => Send): Table {
  const methods = METHODS.map((method) => [method, wrap(method, table[method] as Send)])
  return { ...table, ...Object.fromEntries(methods) }
}
