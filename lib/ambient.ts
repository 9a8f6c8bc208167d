import { v7 } from 'uuid'
import type { Ambient } from './core/ports.ts'

/** The real clock and ids: UUIDv7, whose order is the order of time (RFC 9562). */
export const ambient: Ambient = { now: Date.now, newId: () => v7() }
