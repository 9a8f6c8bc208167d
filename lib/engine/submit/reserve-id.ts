import { IDEMPOTENCY_MS } from '../../core/limits.ts'
import type { IdempotencyStore } from '../../core/ports/caches.ts'
import type { System } from '../../core/ports/system.ts'
import { IdempotencyKeyReused } from '../../core/request-errors.ts'
import { ExecutionDeleted } from '../../core/resource-errors.ts'
import type { Idempotency } from './run-request.ts'

/** `isBound`: another process may use the id, too. */
export type Reserved = { executionId: string; idempotencyId: string | null; isBound: boolean }

/**
 * The id of what a request starts: of an execution, or of a batch. Requests with the same idempotency key get the same.
 * @param executionId a new one, for a request without a key and for the first one with it
 * @throws IdempotencyKeyReused, ExecutionDeleted
 */
export async function reserveId(
  { idempotency, system }: { idempotency: IdempotencyStore; system: System },
  { agentId }: { agentId: string },
  key: Idempotency | null | undefined,
  executionId = system.newId(),
): Promise<Reserved> {
  if (!key) return { executionId, idempotencyId: null, isBound: false }
  const now = system.now()
  const reservation = await idempotency.reserve({
    agentId,
    ...key,
    executionId,
    now,
    expiresAt: now + IDEMPOTENCY_MS,
  })
  if (reservation.requestHash !== key.requestHash) throw new IdempotencyKeyReused()
  if (reservation.isDeleted) throw new ExecutionDeleted(reservation.executionId)
  return {
    executionId: reservation.executionId,
    idempotencyId: reservation.id,
    isBound: reservation.executionId !== executionId,
  }
}
