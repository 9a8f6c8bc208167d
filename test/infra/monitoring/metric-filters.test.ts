import { afterEach, describe, expect, it, vi } from 'vitest'
import type { FunctionName } from '../../../infra/functions/function-settings.ts'
import { functionOf, type OperationName } from '../../../lib/contract/routes.ts'
import type { ServiceEvent } from '../../../lib/http/event.ts'
import { requestLog } from '../../../lib/http/request-log.ts'
import { logger } from '../../../lib/logger.ts'
import { START_DELAY_MS } from '../../../lib/metrics.ts'
import { synthesize, toLogicalIdPrefix } from '../synthesize.ts'
import { applyMetricFilters } from './apply-metric-filters.ts'

const template = synthesize({ monitoring: true })
afterEach(() => vi.restoreAllMocks())

/** The metrics that a line in the log of a function becomes, by name. */
const metricsOf = (logGroup: string, entry: object) =>
  Object.fromEntries(
    applyMetricFilters(template, [{ logGroup, entry: { ...entry } }]).map(({ name, value }) => [name, value]),
  )
const logOf = (name: FunctionName) => `${toLogicalIdPrefix(name)}Logs`

type Handled = { headers?: Record<string, string>; executionMs?: number }

/** The metrics of the line that the middleware logs for a request, which took 40 ms. */
async function metricsOfRequest(operation: OperationName, { headers = {}, executionMs }: Handled = {}) {
  const info = vi.spyOn(logger, 'info').mockReturnValue(undefined)
  const now = vi.spyOn(performance, 'now').mockReturnValue(1_000)
  const event = { requestContext: { requestId: 'r' }, ...(executionMs !== undefined && { executionMs }) }
  const request = { event: event as ServiceEvent, response: { statusCode: 200, headers, body: '' } }
  const { before, after } = requestLog(operation)
  await before?.(request as never)
  now.mockReturnValue(1_040)
  await after?.(request as never)
  const [message, entry] = info.mock.lastCall as unknown as [string, object]
  return metricsOf(logOf(functionOf(operation)), JSON.parse(JSON.stringify({ message, ...entry })))
}

describe('a metric filter', () => {
  it.each<[string, OperationName, Handled, object]>([
    ['how long a read takes', 'list-agents', {}, { ReadLatencyMs: 40 }],
    ['a read of a function that also writes', 'get-rollout', {}, { ReadLatencyMs: 40 }],
    ['no write of such a function', 'put-rollout', {}, {}],
    ['no read that waits', 'get-execution', { headers: { 'Preference-Applied': 'wait=10' } }, {}],
    ['what a run takes beside its agent', 'run-agent', { executionMs: 30 }, { RunOverheadMs: 10 }],
    ['no run in the background', 'run-agent', {}, {}],
  ])('measures %s', async (_, operation, handled, metrics) => {
    expect(await metricsOfRequest(operation, handled)).toEqual(metrics)
  })

  it('measures how late a run starts, from the metrics of the runner', () => {
    expect(metricsOf(logOf('process-execution'), { [START_DELAY_MS]: 7 })).toEqual({ StartDelayMs: 7 })
  })

  it.each([
    ['a function that fails', '503', '-', {}],
    ['an integration that fails', '500', 'INTEGRATION_FAILURE', { ServerErrors: 1 }],
    ['an authorizer that fails', '503', 'AUTHORIZER_FAILURE', { ServerErrors: 1, AuthorizerErrors: 1 }],
    ['a missing token', '401', 'UNAUTHORIZED', {}],
    ['a limit of an organization', '429', '-', { ThrottledRequests: 1 }],
  ])('counts in the access log %s', (_, status, gatewayResponse, metrics) => {
    expect(metricsOf('AccessLog', { status, gatewayResponse })).toEqual(metrics)
  })
})
