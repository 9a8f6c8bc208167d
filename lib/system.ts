import { v7 } from 'uuid'
import type { System } from './core/ports/system.ts'

/** The real clock, and ids that sort by time of creation: UUIDv7 (RFC 9562). */
export const system: System = { now: Date.now, newId: () => v7() }
