import {
  type EndpointFunction,
  functionOf,
  getOperation,
  operationNames,
  operationsOf,
} from '../../lib/contract/routes.ts'
import { SETTINGS } from '../../lib/contract/settings/table.ts'

/** Functions that are not an endpoint of the API, and their descriptions. */
const BACKGROUND_FUNCTIONS = {
  'authorize-request': 'Authorizes requests by their API token',
  'process-execution': 'Runs queued executions',
  'process-dead-letter': 'Ends executions whose messages exceeded maxReceiveCount',
  'sweep-executions': 'Requeues executions without a live lease and ends those past their deadline',
  'deliver-events': 'Sends events of executions and batches to webhooks and the event bus',
}

type BackgroundFunction = keyof typeof BACKGROUND_FUNCTIONS

/** A file of `functions/` and the Lambda function that is deployed from it. */
export type FunctionName = EndpointFunction | BackgroundFunction

export const FUNCTION_NAMES: FunctionName[] = [
  ...new Set(operationNames.map(functionOf)),
  ...(Object.keys(BACKGROUND_FUNCTIONS) as BackgroundFunction[]),
]

/** https://docs.aws.amazon.com/lambda/latest/api/API_CreateFunction.html */
const MAX_DESCRIPTION_LENGTH = 256

/** The names of the operations if their summaries are too long together. */
export function getDescription(name: FunctionName): string {
  if (name in BACKGROUND_FUNCTIONS) return BACKGROUND_FUNCTIONS[name as BackgroundFunction]
  const names = operationsOf(name)
  const summaries = names.map((each) => getOperation(each).summary).join('; ')
  return summaries.length <= MAX_DESCRIPTION_LENGTH
    ? summaries
    : names.join(', ').slice(0, MAX_DESCRIPTION_LENGTH)
}

/** Functions that run agents: models, tools and code. */
export const AGENT_FUNCTIONS: FunctionName[] = ['run-agent', 'serve-mcp', 'process-execution']

/** Functions that know the default model and the prices: those that run agents, and those that check budgets. */
export const MODEL_FUNCTIONS: FunctionName[] = [
  ...AGENT_FUNCTIONS,
  'manage-batches',
  'manage-limits',
  'manage-schedules',
  'manage-trials',
  'publish-agent',
  'rerun-execution',
]

/**
 * Functions that their own messages can invoke again: the runner sends the continuation of an execution to its own
 * queue, deliver-events the next attempt, and a message from process-dead-letter can return through the dead-letter
 * queue. The AWS SDK forwards the
 * trace header through SQS, by which Lambda stops a function after about 16 invocations in one chain of requests. An
 * execution of 500 steps can take more. https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html
 */
export const RECURSIVE_FUNCTIONS: FunctionName[] = [
  'process-execution',
  'process-dead-letter',
  'deliver-events',
]

type FunctionSettings = { timeoutSeconds: number; memoryMb: number }

/** Enough for a page of records or one payload of maximum size. */
const DEFAULT: FunctionSettings = { timeoutSeconds: 10, memoryMb: 512 }

/** 900 s is the maximum timeout of Lambda. The memory is the default of `agentMemoryMb`, which replaces it. */
const AGENT: FunctionSettings = { timeoutSeconds: 900, memoryMb: SETTINGS.agentMemoryMb.default }

const OVERRIDES: Partial<Record<FunctionName, FunctionSettings>> = {
  'run-agent': AGENT,
  'process-execution': AGENT,
  // A call responds within MCP_DEADLINE_MS, and the output may take as long again to send.
  'serve-mcp': { ...AGENT, timeoutSeconds: 90 },
  // Waits up to MAX_WAIT_SECONDS for an execution to complete when the client sends `Prefer: wait`. A record of maximum
  // size takes 220 MB (docs/decisions/0082-shared-workers.md).
  'get-execution': { timeoutSeconds: 29, memoryMb: 384 },
  // Waits for most of its time, up to EVENT_STREAM_MS: memory is what it costs.
  'stream-events': { timeoutSeconds: 900, memoryMb: 256 },
  // Deletes up to 500 steps and many payload chunks. 29 s is the integration timeout of API Gateway.
  'delete-execution': { timeoutSeconds: 29, memoryMb: 512 },
  // A correction can be as large as an output, and the response contains it.
  'give-feedback': { timeoutSeconds: 29, memoryMb: 512 },
  // Reads all signals of an execution where it counts or lists them.
  'send-signal': { timeoutSeconds: 29, memoryMb: 512 },
  // Adds up MAX_USAGE_ROWS, and the rest of an interval.
  'read-usage': { timeoutSeconds: 29, memoryMb: 1024 },
  // Checks bodies of 6 MB, and follows batches up to EVENT_STREAM_MS.
  'manage-batches': { timeoutSeconds: 900, memoryMb: 1024 },
  // Looks at 5,000 executions, or reads the lines of a trial with their differences.
  'manage-trials': { timeoutSeconds: 29, memoryMb: 512 },
  // Has two executions of maximum size in memory, and reads their steps.
  'rerun-execution': { timeoutSeconds: 29, memoryMb: 1024 },
  // Waits up to 20 s for the answer of a receiver.
  'manage-webhooks': { timeoutSeconds: 29, memoryMb: 512 },
  // Checks an input, and what a run may choose.
  'manage-schedules': { timeoutSeconds: 29, memoryMb: 512 },
  // A whole processor: parsing 3 MB of code takes 3 s of it, and 400 MB.
  'publish-agent': { timeoutSeconds: 29, memoryMb: 1769 },
  // A whole processor: adding up the usage of 10,000 runs per second takes 12 s of it each minute.
  'sweep-executions': { timeoutSeconds: 60, memoryMb: 1769 },
  // A receiver has 20 s to answer. The records of a batch are in memory together.
  'deliver-events': { timeoutSeconds: 60, memoryMb: 1024 },
}

export const getFunctionSettings = (name: FunctionName): FunctionSettings => OVERRIDES[name] ?? DEFAULT
