import { failure, type Outcome } from '../../core/execution.ts'
import { ModelConfigurationError, ModelError } from '../../core/model.ts'
import { ToolError } from '../../tools/tool.ts'
import type { RetryPolicy } from '../checkpoints/stop-reason.ts'
import { retryableError } from '../checkpoints/stop-reason.ts'

/**
 * The outcome of a run whose model, tools or secrets cannot be configured, opened or read. Imported on demand, because
 * few runs need it.
 * @throws AttemptStopped if a retry may succeed and nobody is waiting; any other error as it is
 */
export function toOutcome(error: unknown, retry: RetryPolicy): Outcome {
  if (error instanceof ModelConfigurationError)
    return failure({ code: 'ModelNotConfigured', message: error.message })
  if (!(error instanceof ToolError || error instanceof ModelError)) throw error
  const code = error instanceof ToolError ? 'ToolUnavailable' : 'ModelUnavailable'
  const executionError = { code, message: error.message }
  if (error.isTransient && retry.mode === 'requeue') throw retryableError(executionError)
  return failure(executionError)
}
