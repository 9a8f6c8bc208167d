import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BY_CREATION, BY_ID, decodeCursor, encodeCursor } from '../../lib/core/cursor.ts'

const id = fc.uuid()
const creation = fc
  .tuple(fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true }), id)
  .map(([date, uuid]) => `${date.toISOString()}#${uuid}`)
const anyText = fc.oneof(
  fc.string(),
  fc.base64String(),
  id.map((order) => `${encodeCursor({ order })}A`),
)

describe('decodeCursor', () => {
  it.each([
    ['ids', id, BY_ID],
    ['creations', creation, BY_CREATION],
  ] as const)('decodes the cursors of lists ordered by %s', (_, orders, pattern) => {
    fc.assert(
      fc.property(orders, (order) => {
        expect(decodeCursor(encodeCursor({ order }), pattern)).toEqual({ order })
      }),
    )
  })

  it('rejects the cursor of a list with another order', () => {
    fc.assert(
      fc.property(id, (order) => {
        expect(decodeCursor(encodeCursor({ order }), BY_CREATION)).toBeUndefined()
      }),
    )
  })

  it('accepts only the text that encodeCursor returns for a position', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const position = decodeCursor(text, BY_ID)
        expect(position ? encodeCursor(position) : text).toBe(text)
      }),
    )
  })
})
