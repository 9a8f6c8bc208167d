import { decodeCursor, encodeCursor } from '../core/cursor.ts'
import { InvalidQueryParameter } from '../core/errors.ts'
import { PAGE_SIZE } from '../core/limits.ts'
import type { Page, PageRequest } from '../core/ports.ts'
import type { HttpResponse } from './event.ts'

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'

/** The position in a cursor, by the order of the list: the ID, the creation time and ID, or the step number. */
export const BY_ID = new RegExp(`^${UUID}$`)
export const BY_CREATION = new RegExp(`^\\d{4}-\\d\\d-\\d\\dT[\\d:.]{12}Z#${UUID}$`)
export const BY_NUMBER = /^[1-9]\d{0,4}$/

type PageQuery = { limit?: number | undefined; cursor?: string | undefined }

/** @throws InvalidQueryParameter if the cursor is not one of a list in this order */
export function parsePage({ limit = PAGE_SIZE.default, cursor }: PageQuery, order: RegExp): PageRequest {
  if (cursor === undefined) return { limit, after: null }
  const after = decodeCursor(cursor, order)
  if (!after) {
    const message = 'cursor must be taken, unchanged, from the "next" link of the previous page.'
    throw new InvalidQueryParameter([{ path: 'cursor', message }])
  }
  return { limit, after }
}

/** A JSON array. If there are more items, the `Link` header (RFC 8288) points to the next page of the same query. */
export function toPageResponse<T>(
  page: Page<T>,
  toRecord: (item: T) => unknown,
  request: { path: string; query: object },
): HttpResponse {
  return {
    status: 200,
    body: page.items.map(toRecord),
    ...(page.next && { headers: { Link: toNextLink(page.next, request) } }),
  }
}

function toNextLink(
  next: NonNullable<Page<unknown>['next']>,
  { path, query }: { path: string; query: object },
) {
  const parameters = Object.entries({ ...query, cursor: encodeCursor(next) }).filter(
    ([, value]) => value !== undefined,
  )
  return `<${path}?${new URLSearchParams(parameters)}>; rel="next"`
}
