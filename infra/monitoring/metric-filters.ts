import { FilterPattern, type ILogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs'
import type { Construct } from 'constructs'
import { functionOf, getOperation, operationNames } from '../../lib/api/routes.ts'
import { REQUEST_COMPLETED } from '../../lib/http/request-log.ts'
import { SERVER_ERRORS } from '../../lib/metrics.ts'
import type { Functions } from '../functions/functions.ts'
import { AUTHORIZER_ERRORS, READ_LATENCY, THROTTLED_REQUESTS } from './metrics.ts'

/**
 * The operations that only read, except the health check, which is called by monitors and not by clients, and streams,
 * which take as long as their execution.
 */
export const READ_OPERATIONS = operationNames.filter((name) => {
  const { method, public: isPublic, responses } = getOperation(name)
  return method === 'GET' && !isPublic && !responses[200]?.events
})

/** API Gateway logs "-" for a field without a value: the response is then the one of the function. */
const { all, stringValue } = FilterPattern
const IS_GATEWAY_RESPONSE = stringValue('$.gatewayResponse', '!=', '-')

const ACCESS_LOG_PATTERNS = {
  [SERVER_ERRORS]: all(stringValue('$.status', '=', '5*'), IS_GATEWAY_RESPONSE),
  [AUTHORIZER_ERRORS]: stringValue('$.gatewayResponse', '=', 'AUTHORIZER_*'),
  [THROTTLED_REQUESTS]: stringValue('$.status', '=', '429'),
}

/** A read that waits (`Prefer: wait`) takes as long as its client asks for. */
const COMPLETED_READ = all(
  stringValue('$.message', '=', REQUEST_COMPLETED),
  FilterPattern.notExists('$.preferenceApplied'),
)

/**
 * Derives metrics from logs that are written anyway, which is free: what API Gateway responds itself, because AWS
 * counts it together with the responses of functions, and how long reads take, as one metric for all functions.
 */
export function createMetricFilters(
  scope: Construct,
  {
    name: metricNamespace,
    accessLog,
    functions,
  }: { name: string; accessLog: ILogGroup; functions: Functions },
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
  for (const name of READ_OPERATIONS) {
    new MetricFilter(scope, `${READ_LATENCY}Filter-${name}`, {
      logGroup: functions[functionOf(name)].function.logGroup,
      filterPattern: COMPLETED_READ,
      metricNamespace,
      metricName: READ_LATENCY,
      metricValue: '$.durationMs',
    })
  }
}
