/**
 * Adds made-up operations to the routes, and permissions of their functions, before they are loaded. Half of the
 * operations of each family read, the others write, and each has a path of its own.
 */
import { registerHooks } from 'node:module'
import { requireEnv } from '../../../lib/environment.ts'

const [operations, families] = ['ADDED_OPERATIONS', 'ADDED_FAMILIES'].map((name) => Number(requireEnv(name)))
const numbers = Array.from({ length: operations ?? 0 }, (_, index) => index)
const familyOf = (index: number) => `family-${index % (families ?? 1)}`

const rows = numbers.map((index) => {
  const method = Math.floor(index / (families ?? 1)) % 2 === 0 ? `...reading` : `...managing`
  const path = `/v1/${familyOf(index)}/{agentId}/operations-${index}/{executionId}`
  return `'made-up-operation-${index}': { ${method}, family: '${familyOf(index)}', path: '${path}',
    summary: 'A made-up operation with a summary of the usual length', responses: agentResponse },`
})

const grants = [...new Set(numbers.map(familyOf))].map(
  (name) => `'${name}': { table: ['BatchGetItem', 'GetItem', 'Query', 'PutItem', 'UpdateItem'],
    indexes: ['owned-by-organization'] },`,
)

/** By the end of the file name: where rows are inserted. */
const INSERTIONS: [file: string, after: string, text: string][] = [
  ['/lib/contract/operations/agents.ts', 'export const agentOperations = {', rows.join('\n')],
  ['/infra/functions/grants.ts', 'export const GRANTS: Record<FunctionName, Grant> = {', grants.join('\n')],
]

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    const [, after, text] = INSERTIONS.find(([file]) => url.endsWith(file)) ?? []
    if (after === undefined) return loaded
    const source = String(loaded.source)
    if (!source.includes(after)) throw new Error(`${url} does not contain "${after}".`)
    return { ...loaded, source: source.replace(after, `${after}\n${text}`) }
  },
})
