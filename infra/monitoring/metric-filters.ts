import { FilterPattern, type IFilterPattern, type ILogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs'
import type { Construct } from 'constructs'
import { functionOf, getOperation, operationNames, operationsOf } from '../../lib/contract/routes.ts'
import { REQUEST_COMPLETED } from '../../lib/http/request-log.ts'
import { SERVER_ERRORS, START_DELAY_MS } from '../../lib/metrics.ts'
import { AGENT_FUNCTIONS, type FunctionName } from '../functions/function-settings.ts'
import type { Functions, ServiceFunction } from '../functions/functions.ts'
import {
  AUTHORIZER_ERRORS,
  MEMORY_USED,
  READ_LATENCY,
  RUN_OVERHEAD,
  START_DELAY,
  THROTTLED_REQUESTS,
} from './metrics.ts'

/**
 * The operations that only read, except the health check, which is called by monitors and not by clients, streams of
 * events and of results, which take as long as their execution or their reader, and reports, which take as long as what
 * they add up.
 */
export const READ_OPERATIONS = operationNames.filter((name) => {
  const { method, public: isPublic, responses } = getOperation(name)
  const { events, lines, csv } = responses[200] ?? {}
  return method === 'GET' && !isPublic && !events && !lines && !csv
})

/** API Gateway logs "-" for a field without a value: the response is then the one of the function. */
const { all, any, numberValue, stringValue } = FilterPattern
const IS_GATEWAY_RESPONSE = stringValue('$.gatewayResponse', '!=', '-')

const ACCESS_LOG_PATTERNS = {
  [SERVER_ERRORS]: all(stringValue('$.status', '=', '5*'), IS_GATEWAY_RESPONSE),
  [AUTHORIZER_ERRORS]: stringValue('$.gatewayResponse', '=', 'AUTHORIZER_*'),
  [THROTTLED_REQUESTS]: stringValue('$.status', '=', '429'),
}

/** https://docs.aws.amazon.com/lambda/latest/dg/telemetry-schema-reference.html#platform-report */
const IS_REPORT = stringValue('$.type', '=', 'platform.report')

/** A read that waits (`Prefer: wait`) takes as long as its client asks for. */
const COMPLETED_READ = all(
  stringValue('$.message', '=', REQUEST_COMPLETED),
  FilterPattern.notExists('$.preferenceApplied'),
)

/** A completed read of a function, whose family can also have operations that write. */
function completedReadOf(name: FunctionName): IFilterPattern {
  const operations = operationsOf(name)
  const reads = operations.filter((operation) => READ_OPERATIONS.includes(operation))
  if (reads.length === operations.length) return COMPLETED_READ
  return all(COMPLETED_READ, any(...reads.map((operation) => stringValue('$.operation', '=', operation))))
}

/** Metrics of runs: the function in whose log they are, and the member of a line. */
const RUN_LATENCIES = {
  [RUN_OVERHEAD]: { name: 'run-agent', member: 'overheadMs' },
  [START_DELAY]: { name: 'process-execution', member: START_DELAY_MS },
} as const

const atLeastZero = (member: string): IFilterPattern => numberValue(`$.${member}`, '>=', 0)

/** The runner on managed instances, whose log is its own. */
const MODEL_RUNNER = 'model-runner'

/**
 * Derives metrics from logs that are written anyway, which is free: what API Gateway responds itself, because AWS
 * counts it together with the responses of functions, and how long reads and runs take, as one metric each.
 */
export function createMetricFilters(
  scope: Construct,
  {
    name: metricNamespace,
    accessLog,
    functions,
    modelRunner,
  }: { name: string; accessLog: ILogGroup; functions: Functions; modelRunner: ServiceFunction },
): void {
  for (const [metricName, filterPattern] of Object.entries(ACCESS_LOG_PATTERNS)) {
    new MetricFilter(scope, `${metricName}Filter`, {
      logGroup: accessLog,
      filterPattern,
      metricNamespace,
      metricName,
      metricValue: '1',
    })
  }
  const createMeasure = (
    metricName: string,
    name: FunctionName | typeof MODEL_RUNNER,
    filterPattern: IFilterPattern,
    member: string,
  ) =>
    new MetricFilter(scope, `${metricName}Filter-${name}`, {
      logGroup: (name === MODEL_RUNNER ? modelRunner : functions[name]).function.logGroup,
      filterPattern,
      metricNamespace,
      metricName,
      metricValue: `$.${member}`,
    })
  for (const name of new Set(READ_OPERATIONS.map(functionOf)))
    createMeasure(READ_LATENCY, name, completedReadOf(name), 'durationMs')
  for (const [metricName, { name, member }] of Object.entries(RUN_LATENCIES))
    createMeasure(metricName, name, atLeastZero(member), member)
  for (const name of AGENT_FUNCTIONS)
    createMeasure(MEMORY_USED, name, IS_REPORT, 'record.metrics.maxMemoryUsedMB')
  if (modelRunner !== functions[RUN_LATENCIES[START_DELAY].name])
    createMeasure(START_DELAY, MODEL_RUNNER, atLeastZero(START_DELAY_MS), START_DELAY_MS)
}
