import { type Execution, isFinal } from '../../lib/core/execution.ts'
import type { TestCase } from './case-file.ts'
import type { FailedCall } from './failed-calls.ts'

/** Why no case can be made of an execution. The message continues "The execution …". */
export class NoCase extends Error {}

/**
 * A case with the input of an execution, as it was sent. It expects the correction if there is one, otherwise what the
 * execution did; tools whose calls failed may fail again.
 * @throws NoCase
 */
export function caseOfExecution(
  execution: Execution,
  failedCalls: FailedCall[],
  name: string | undefined,
): TestCase {
  const { id, input, feedback } = execution
  const note = feedback?.note?.split('\n', 1)[0]?.trim()
  const tools = Object.fromEntries(failedCalls.map(({ tool }) => [tool, 'may-fail' as const]))
  const expect = { ...expectationOf(execution), ...(failedCalls.length > 0 && { tools }) }
  return { name: name ?? (note || `execution ${id}`), input, expect }
}

function expectationOf(execution: Execution): TestCase['expect'] {
  const { output, error, feedback } = execution
  if (!isFinal(execution)) throw new NoCase('is still running')
  if (feedback?.correctedOutput) return { equals: feedback.correctedOutput }
  if (error?.code === 'Cancelled') throw new NoCase('was cancelled')
  if (error) return { error: error.code }
  if (feedback?.rating === -1)
    throw new NoCase('was rated as wrong and has no corrected output: add one to its feedback')
  return { equals: output ?? {} }
}
