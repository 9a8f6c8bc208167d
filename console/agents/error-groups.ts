import { isCancelled } from '../components/format.ts'
import type { Run } from '../runs/use-runs.ts'

/** Failed runs whose messages differ only in numbers and IDs. `last`: the newest of them. */
export type ErrorGroup = {
  code: string
  count: number
  firstSeen: string
  last: Run
  /** Null: without a tenant. */
  tenants: (string | null)[]
}

/** Runs that somebody cancelled are no failures. The largest group comes first. @param runs the newest first */
export function groupErrors(runs: Run[]): ErrorGroup[] {
  const failed = runs.filter(({ error }) => error && !isCancelled(error.code))
  const groups = Map.groupBy(failed, ({ error }) => `${error?.code} ${shapeOf(error?.message ?? '')}`)
  return [...groups.values()]
    .flatMap((group): ErrorGroup[] => {
      const [last] = group
      if (!last?.error) return []
      const firstSeen = group.at(-1)?.createdAt ?? last.createdAt
      const tenants = [...new Set(group.map(({ tenantId }) => tenantId))]
      return [{ code: last.error.code, count: group.length, firstSeen, last, tenants }]
    })
    .sort((a, b) => b.count - a.count)
}

/** Characters that tell messages apart. */
const COMPARED = 300

/** What a message has in common with others of its kind: words with a digit are values. */
const shapeOf = (message: string): string =>
  message
    .slice(0, COMPARED)
    .split(/([\s"'`()[\]{}<>,;:=]+)/)
    .map((word) => (/\d/.test(word) ? '#' : word))
    .join('')
