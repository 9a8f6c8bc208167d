import { lastIdWith } from './ids.ts'
import { PAGE_SIZE } from './limits.ts'
import { InvalidCursor } from './request-errors.ts'
import { SCHEDULE_NAME } from './schedule.ts'

/** A position in a list, newest first: the page that follows holds entries older than `order`, the sort value. */
export type ListPosition = { order: string }

const VERSION = '1'
/** What cursors consist of. */
export const CURSOR = /^[A-Za-z0-9_-]{1,2000}$/

/** An opaque cursor for a position. Only `decodeCursor` interprets it. */
export function encodeCursor(position: ListPosition): string {
  return Buffer.from(`${VERSION}${position.order}`).toString('base64url')
}

/** The position of a cursor; undefined for a text that `encodeCursor` did not return for values of this `pattern`. */
export function decodeCursor(cursor: string, pattern: RegExp): ListPosition | undefined {
  if (!CURSOR.test(cursor)) return undefined
  const text = Buffer.from(cursor, 'base64url').toString()
  const order = text.slice(VERSION.length)
  if (!text.startsWith(VERSION) || !pattern.test(order)) return undefined
  return encodeCursor({ order }) === cursor ? { order } : undefined
}

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'

/** The sort values of lists: the id, the creation or receipt time and id, or the number of a step. */
export const BY_ID = new RegExp(`^${UUID}$`)
export const BY_CREATION = new RegExp(`^\\d{4}-\\d\\d-\\d\\dT[\\d:.]{12}Z#${UUID}$`)
export const BY_RECEIPT = /^\d{4}-\d\d-\d\dT[\d:.]{12}Z#[0-9a-f-]{32,36}$/
/** Approvals: the execution, and the last one of it that was on the page, unless that was the last of all. */
export const BY_APPROVAL = new RegExp(`^${UUID}(?:#[0-9a-f]{32})?$`)
/** Deliveries: the execution and the revision. */
export const BY_DELIVERY = new RegExp(`^${UUID}#\\d{7}$`)
/** Limits: the kind and the id of what they are of. */
export const BY_SUBJECT = /^(?:agent|tenant)#.{1,128}$/su
/** Schedules: the name. */
export const BY_NAME = SCHEDULE_NAME
export const BY_NUMBER = /^[1-9]\d{0,4}$/
/** Usage: the interval, what it is grouped by, and the group as a JSON array; null if none of it was on the page. */
export const BY_USAGE = /^(\d{4}-\d\d-\d\dT[\d:.]{12}Z)#([a-z,]*)#(\[.*\]|null)$/s
/** Lines of a batch: the first one that was not on the page. */
export const BY_LINE = BY_NUMBER

/** The page that a request asks for; the first one by default. */
export type PageQuery = { limit?: number | undefined; cursor?: string | undefined }

/** @throws InvalidCursor if the cursor is not one of a list in this order */
export function parsePage({ limit = PAGE_SIZE.default, cursor }: PageQuery, order: RegExp) {
  const after = cursor === undefined ? null : decodeCursor(cursor, order)
  if (after === undefined) throw new InvalidCursor()
  return { limit, after }
}

/**
 * The position after a page, for a reader that may not know of what the list passed over: instead of the ID of the last
 * one, its time, or the last one on the page. What is newer than the position was on this page or an earlier one, and
 * the following page passes over some again.
 */
export function withoutOthers(next: ListPosition, page: { id: string }[]): ListPosition {
  const position = lastIdWith(next.order)
  const last = page.at(-1)?.id
  return { order: last !== undefined && last < position ? last : position }
}
