/** A place in a list, newest first: everything after it is older than `order`, the list's sort value. */
export type Place = { order: string }

const VERSION = '1'
const CURSOR = /^[A-Za-z0-9_-]{1,200}$/

/** An opaque text for a place; only `decodeCursor` reads it. */
export function encodeCursor(place: Place): string {
  return Buffer.from(`${VERSION}${place.order}`).toString('base64url')
}

/** The place of a cursor, or `undefined` for anything `encodeCursor` never made for a list ordered like `pattern`. */
export function decodeCursor(cursor: string, pattern: RegExp): Place | undefined {
  if (!CURSOR.test(cursor)) return undefined
  const text = Buffer.from(cursor, 'base64url').toString()
  const order = text.slice(VERSION.length)
  if (!text.startsWith(VERSION) || !pattern.test(order)) return undefined
  return encodeCursor({ order }) === cursor ? { order } : undefined
}
