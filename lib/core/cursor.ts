/** A position in a list, newest first: the page that follows holds entries older than `order`, the list's sort value. */
export type ListPosition = { order: string }

const VERSION = '1'
/** What cursors consist of. */
export const CURSOR = /^[A-Za-z0-9_-]{1,200}$/

/** An opaque cursor for a position. Only `decodeCursor` interprets it. */
export function encodeCursor(position: ListPosition): string {
  return Buffer.from(`${VERSION}${position.order}`).toString('base64url')
}

/** The position of a cursor; undefined for a text that `encodeCursor` never returned for a list whose sort values match `pattern`. */
export function decodeCursor(cursor: string, pattern: RegExp): ListPosition | undefined {
  if (!CURSOR.test(cursor)) return undefined
  const text = Buffer.from(cursor, 'base64url').toString()
  const order = text.slice(VERSION.length)
  if (!text.startsWith(VERSION) || !pattern.test(order)) return undefined
  return encodeCursor({ order }) === cursor ? { order } : undefined
}
