import { v7 } from 'uuid'
import type { System } from './core/ports.ts'

/** The real clock and ids: UUIDv7, whose order is the order of time (RFC 9562). */
export const system: System = { now: Date.now, newId: () => v7() }
