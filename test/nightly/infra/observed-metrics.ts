import type { Template } from 'aws-cdk-lib/assertions'
import { START_DELAY_MS } from '../../../lib/metrics.ts'
import type { ApiResponse } from '../../support/service/client.ts'
import { toLogicalIdPrefix } from '../../infra/synthesize.ts'
import { applyMetricFilters, type LogEvent } from '../../infra/monitoring/apply-metric-filters.ts'
import { type Sample, STACK_NAME } from '../../infra/monitoring/evaluate-alarms.ts'

/** What happened in the local service within one period. */
export type Observation = {
  responses: Pick<ApiResponse, 'status' | 'headers'>[]
  /** What it printed: the log lines of the functions, the metrics that they emitted, and other lines. */
  output: string
  failedSweeps: number
  runnerCrashes: number
  /** Visible messages in the dead-letter queue. */
  deadLetters: number
}

type LogLine = Record<string, unknown> & { _aws?: EmbeddedMetrics }
type EmbeddedMetrics = {
  CloudWatchMetrics: { Namespace: string; Dimensions: string[][]; Metrics: { Name: string }[] }[]
}

/** Every metric that an account would have: emitted by the functions, derived from logs, and counted by AWS. */
export function toSamples(template: Template, observation: Observation): Sample[] {
  const lines = observation.output.split('\n').flatMap(parseLine)
  const events = [...toFunctionLogs(lines), ...toAccessLog(observation.responses, lines)]
  return [...lines.flatMap(toEmitted), ...applyMetricFilters(template, events), ...countedByAws(observation)]
}

/** CloudWatch Logs extracts a value for each metric and each set of dimensions. */
function toEmitted({ _aws, ...members }: LogLine): Sample[] {
  return (_aws?.CloudWatchMetrics ?? []).flatMap(({ Namespace, Dimensions, Metrics }) =>
    Metrics.flatMap(({ Name }) =>
      Dimensions.map((names) => ({
        namespace: Namespace,
        name: Name,
        dimensions: Object.fromEntries(names.map((name) => [name, String(members[name])])),
        value: Number(members[Name]),
      })),
    ),
  )
}

/** A line of a function is in its own log group. Asynchronous executions complete in the runner. */
const toFunctionLogs = (lines: LogLine[]): LogEvent[] =>
  lines
    .map((entry) => ({ name: START_DELAY_MS in entry ? 'process-execution' : entry.operation, entry }))
    .filter(({ name }) => name !== undefined)
    .map(({ name, entry }) => ({ logGroup: `${toLogicalIdPrefix(String(name))}Logs`, entry }))

/**
 * SIMULATED: the access log of API Gateway, with the members that metric filters use. A response whose request no
 * function logged is a gateway response; of those, the local gateway responds 503 only if the authorizer failed and 500
 * if a function did.
 */
function toAccessLog(responses: Observation['responses'], lines: LogLine[]): LogEvent[] {
  const handled = new Set(lines.map(({ requestId }) => requestId))
  const types: Record<number, string> = { 500: 'INTEGRATION_FAILURE', 503: 'AUTHORIZER_FAILURE' }
  return responses.map(({ status, headers }) => {
    const type = handled.has(headers.get('x-amzn-requestid')) ? '-' : (types[status] ?? 'DEFAULT_4XX')
    return { logGroup: 'AccessLog', entry: { status: String(status), gatewayResponse: type } }
  })
}

/** How often the schedule invokes the sweeper within a period of five minutes. */
const SWEEPS = 5

/**
 * SIMULATED: the metrics of API Gateway, Lambda and SQS. The local sweeper runs only if there is something to sweep,
 * the deployed one every minute. A crash of the local runner is an error of the runner function. Missing, because the
 * service cannot cause them: the age of messages, and throttling by Lambda.
 */
function countedByAws(observation: Observation): Sample[] {
  const { responses, failedSweeps, runnerCrashes, deadLetters } = observation
  const sweeper = { FunctionName: `${toLogicalIdPrefix('sweep-executions')}Function` }
  const runner = { FunctionName: `${toLogicalIdPrefix('process-execution')}Function` }
  const deadLetterQueue = { QueueName: 'DeadLetterQueue' }
  const samples: [string, string, Record<string, string>, number][] = [
    ['AWS/ApiGateway', 'Count', { ApiName: STACK_NAME }, responses.length],
    ['AWS/Lambda', 'Invocations', sweeper, SWEEPS],
    ['AWS/Lambda', 'Errors', sweeper, failedSweeps],
    ['AWS/Lambda', 'Errors', runner, runnerCrashes],
    ['AWS/SQS', 'ApproximateNumberOfMessagesVisible', deadLetterQueue, deadLetters],
  ]
  return samples.map(([namespace, name, dimensions, value]) => ({ namespace, name, dimensions, value }))
}

function parseLine(line: string): LogLine[] {
  if (!line.startsWith('{')) return []
  return [JSON.parse(line) as LogLine]
}
