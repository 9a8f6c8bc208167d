import { createHash } from 'node:crypto'
import { v7 } from 'uuid'
import type { Execution } from '../../core/execution.ts'

/** The execution that a tool call starts: a UUIDv7 with its parent's timestamp, whose random part is the hash of the call's key. */
export function childId(parent: Pick<Execution, 'createdAt'>, key: string): string {
  const random = createHash('sha256').update(key).digest().subarray(0, 16)
  return v7({ msecs: Date.parse(parent.createdAt), random, seq: random.readUInt32BE(0) >>> 1 })
}
