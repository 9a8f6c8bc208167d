import type { Token } from '../lib/core/agent.ts'

/** A token as operators see it: everything but its hash. */
export function toTokenRecord({ hash: _, ...record }: Token): Omit<Token, 'hash'> {
  return record
}
