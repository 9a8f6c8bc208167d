import type { ListPosition } from '../cursor.ts'

/** The clock (milliseconds since the epoch) and the id generator (UUIDv7). Passed in, so that tests control both. */
export type System = { now: () => number; newId: () => string }

/** The id of something, and the organization that it belongs to. */
export type OwnedId = { organizationId: string; id: string }

/** One page of a list, newest first. `next` is where the following page begins; null on the last page. */
export type Page<T> = { items: T[]; next: ListPosition | null }

/** `searched`: of a list with a search, how many executions it has looked at, and back to which time (ISO 8601). */
export type SearchedPage<T> = Page<T> & { searched?: { executions: number; until: string | null } }

export type PageRequest = { limit: number; after: ListPosition | null }
