import { runTimeOf } from '../api/runs.ts'
import { isCancelled } from '../components/format.ts'
import type { Run } from '../runs/run-list.ts'

/** How long a run took; null for a copy of a cached result, which took no time. */
export const durationOf = (run: Run): number | null => (run.cached ? null : runTimeOf(run))

export const durationsOf = (runs: Run[]): number[] =>
  runs.map(durationOf).filter((duration) => duration !== null)

/** The smallest value that at least this part of the values does not exceed (nearest rank); null without values. */
export function percentile(values: number[], part: number): number | null {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(Math.ceil(part * sorted.length) - 1, 0)] ?? null
}

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
