import { type OperationName, operations } from '../../lib/api/routes.ts'

/** A file of `functions/`, which is also a Lambda function. */
export type FunctionName = OperationName | (typeof UNCALLED)[number]

/** Those that no request calls. */
const UNCALLED = [
  'authorize-request',
  'process-execution',
  'process-dead-letter',
  'sweep-executions',
] as const

export type FunctionSettings = { timeoutSeconds: number; memoryMb: number }

/** Reads and small writes: one page of records, or one of the largest payloads, fits many times. */
const ENDPOINT: FunctionSettings = { timeoutSeconds: 10, memoryMb: 512 }

/** 900 s is the longest that Lambda runs anything. Agents' own code runs here, so there is memory for it. */
const RUNNER: FunctionSettings = { timeoutSeconds: 900, memoryMb: 1024 }

/** Those whose process runs agents: models, tools and code. */
export const RUNS_AGENTS: FunctionName[] = ['run-agent', 'process-execution']

/** Those that end executions, and so write metrics. */
export const ENDS_EXECUTIONS: FunctionName[] = [
  ...RUNS_AGENTS,
  'cancel-execution',
  'process-dead-letter',
  'sweep-executions',
]

/**
 * Functions whose own messages can invoke them again: the runner sends the continuation of a run to the queue that
 * invokes it; a message that process-dead-letter sends can return through the dead-letter queue. The AWS SDK passes the
 * trace header on through SQS, and by it Lambda stops a function after about 16 invocations in one chain of requests
 * unless its recursive loop detection is off. A run that needs 500 steps needs more than that.
 * https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html
 */
export const RECURSIVE_FUNCTIONS: FunctionName[] = ['process-execution', 'process-dead-letter']

const OTHERS: Partial<Record<FunctionName, FunctionSettings>> = {
  'run-agent': RUNNER,
  'process-execution': RUNNER,
  // Waits for an execution to end when its client asks for that; see MAX_WAIT_SECONDS.
  'get-execution': { timeoutSeconds: 29, memoryMb: 512 },
  // Up to 500 steps and many chunks go with an execution; 29 s is what API Gateway waits for a buffered answer.
  'delete-execution': { timeoutSeconds: 29, memoryMb: 512 },
  // A correction may be as large as an output, and comes back with the record.
  'give-feedback': { timeoutSeconds: 29, memoryMb: 512 },
  'sweep-executions': { timeoutSeconds: 60, memoryMb: 512 },
}

export const FUNCTION_NAMES: FunctionName[] = [...(Object.keys(operations) as OperationName[]), ...UNCALLED]

export const settingsOf = (name: FunctionName): FunctionSettings => OTHERS[name] ?? ENDPOINT
