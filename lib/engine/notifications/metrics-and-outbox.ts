import type { ExecutionStore } from '../../core/ports/executions.ts'
import { measured } from '../../metrics.ts'
import { withOutbox } from './outbox.ts'

/**
 * The stores of a process that ends executions: each write that ends or suspends one marks it for delivery
 * (`withOutbox`), and each one that ends or claims one publishes metrics (`measured`). Functions that end none should
 * not load the metrics.
 */
export const withMetricsAndOutbox = <
  S extends Parameters<typeof withOutbox>[0] & { executions: ExecutionStore },
>(
  stores: S,
  parts: Parameters<typeof withOutbox>[1],
) => withOutbox<S>({ ...stores, executions: measured(stores.executions) }, parts)
