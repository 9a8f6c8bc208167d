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
