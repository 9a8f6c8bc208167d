import { decodeCursor, encodeCursor } from '../core/cursor.ts'
import { InvalidQueryParameter } from '../core/errors.ts'
import { PAGE_SIZE } from '../core/limits.ts'
import type { Page, PageRequest } from '../core/ports.ts'
import type { HttpResponse } from './event.ts'

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'

/** How a list is ordered, and so what its cursors hold: by id, by time of creation and id, or by a step's number. */
export const BY_ID = new RegExp(`^${UUID}$`)
export const BY_CREATION = new RegExp(`^\\d{4}-\\d\\d-\\d\\dT[\\d:.]{12}Z#${UUID}$`)

export const BY_NUMBER = /^[1-9]\d{0,4}$/

type PageQuery = { limit?: number | undefined; cursor?: string | undefined }

/** @throws InvalidQueryParameter for a cursor that no page of such a list has given out */
export function pageRequest({ limit, cursor }: PageQuery, order: RegExp): PageRequest {
  if (cursor === undefined) return { limit: limit ?? PAGE_SIZE.default, after: null }
  const after = decodeCursor(cursor, order)
  if (!after) {
    throw new InvalidQueryParameter([
      {
        path: 'cursor',
        message: 'cursor must be taken, unchanged, from the "next" link of the page before.',
      },
    ])
  }
  return { limit: limit ?? PAGE_SIZE.default, after }
}

/** A bare array; where there is more, the `Link` header (RFC 8288) leads to the next page of the same query. */
export function pageReply<T>(
  page: Page<T>,
  toRecord: (item: T) => unknown,
  request: { path: string; query: object },
): HttpResponse {
  return {
    status: 200,
    body: page.items.map(toRecord),
    ...(page.next && { headers: { Link: nextLink(page, request) } }),
  }
}

function nextLink({ next }: Page<unknown>, { path, query }: { path: string; query: object }): string {
  const given = Object.entries({ ...query, cursor: next && encodeCursor(next) })
  const parameters = given.filter(([, value]) => value !== undefined && value !== null)
  return `<${path}?${new URLSearchParams(parameters as [string, string][])}>; rel="next"`
}
