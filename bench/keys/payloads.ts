import { gzipSync } from 'node:zlib'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { createRandom, type Random } from './random.ts'

/** Sizes of an input and of an output, in bytes of JSON, for which figures are given. */
export const PAYLOAD_SIZES = [100, 4_000, 15_000] as const

/** Share that gzip leaves. */
const TARGET_RATIO = 0.25
const MAX_REFERENCE_LENGTH = 200

const payloads = new Map<number, JsonObject>()

/**
 * A JSON object of exactly this many bytes, at least 100: records of orders with text, numbers, times and references.
 * From 4,000 bytes on, gzip reduces it to a quarter. The same for each call.
 */
export function payloadOf(bytes: number): JsonObject {
  const known = payloads.get(bytes) ?? createPayload(bytes)
  payloads.set(bytes, known)
  return known
}

/** References are random: the longer they are, the less gzip can do. */
function createPayload(bytes: number): JsonObject {
  for (let length = 4; ; length++) {
    const payload = ordersOf(bytes, length)
    const json = JSON.stringify(payload)
    const ratio = gzipSync(json).length / json.length
    if (ratio >= TARGET_RATIO || length === MAX_REFERENCE_LENGTH) return payload
  }
}

function ordersOf(bytes: number, referenceLength: number): JsonObject {
  const random = createRandom(1)
  const orders: JsonObject[] = []
  const toPayload = (note: string): JsonObject => ({ orders, note })
  const sizeWith = (order: JsonObject) => JSON.stringify({ orders: [...orders, order], note: '' }).length
  for (let order = drawOrder(random, referenceLength); sizeWith(order) <= bytes; ) {
    orders.push(order)
    order = drawOrder(random, referenceLength)
  }
  const rest = bytes - JSON.stringify(toPayload('')).length
  return toPayload(NOTE.repeat(Math.ceil(rest / NOTE.length)).slice(0, rest))
}

const NOTE = 'Nothing has worked since this morning, please help. '
const STATUSES = ['open', 'paid', 'shipped', 'returned']
const WORDS = 'late box damaged address please refund second missing call invoice'.split(' ')

function drawOrder(random: Random, referenceLength: number): JsonObject {
  const below = (limit: number) => Math.floor(random() * limit)
  const of = (values: string[]) => String(values[below(values.length)])
  const digits = Array.from({ length: referenceLength }, () => below(36).toString(36))
  return {
    orderId: 100_000 + below(900_000),
    createdAt: `2026-11-${10 + below(14)}T${10 + below(10)}:${10 + below(50)}:00Z`,
    status: of(STATUSES),
    isGift: random() < 0.1,
    amount: below(100_000) / 100,
    comment: Array.from({ length: 6 }, () => of(WORDS)).join(' '),
    reference: digits.join(''),
  }
}
