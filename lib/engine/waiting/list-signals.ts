import { type ExecutionReference, resolveExecutionId } from '../../access/executions.ts'
import { BY_RECEIPT, type PageQuery, parsePage } from '../../core/cursor.ts'
import { MAX_ESCAPED_PAGE_BYTES } from '../../core/limits.ts'
import type { Page } from '../../core/ports/system.ts'
import { ExecutionNotFound } from '../../core/resource-errors.ts'
import type { Signal } from '../../core/wait.ts'
import type { Engine } from '../engine.ts'
import { usedSignals } from './wake.ts'

type Stores = Pick<Engine, 'executions' | 'signals' | 'steps'>

/**
 * A page of the signals that no wait of the execution has used, oldest first. It ends early if their data is large.
 * @throws ExecutionNotFound, InvalidCursor
 */
export async function listSignals(
  { executions, signals, steps }: Stores,
  reference: ExecutionReference,
  query: PageQuery,
): Promise<Page<Signal>> {
  const { limit, after } = parsePage(query, BY_RECEIPT)
  const { organizationId } = reference.access
  const id = await resolveExecutionId(executions, reference)
  if (!(await executions.getStatus({ organizationId, id }))) throw new ExecutionNotFound()
  const kept = await signals.list({ executionId: id })
  const used = kept.length > 0 ? usedSignals(await steps.read({ executionId: id })) : new Set()
  const unread = kept.filter((signal) => !used.has(signal.id) && (!after || orderOf(signal) > after.order))
  let bytes = 0
  const items = unread.slice(0, limit).filter((signal) => {
    bytes += signal.bytes
    return bytes <= MAX_ESCAPED_PAGE_BYTES
  })
  const last = items.at(-1)
  return { items, next: last && items.length < unread.length ? { order: orderOf(last) } : null }
}

const orderOf = ({ receivedAt, id }: Signal): string => `${receivedAt}#${id}`
