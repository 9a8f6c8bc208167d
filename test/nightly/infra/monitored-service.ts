import { GetQueueAttributesCommand, GetQueueUrlCommand, SQSClient } from '@aws-sdk/client-sqs'
import { clientConfig } from '../../../lib/aws-sdk.ts'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { LOCAL_QUEUE, LOCAL_TABLE, provisionTable } from '../../../local/emulators/provision.ts'
import { newOrganization } from '../../support/engine/organization.ts'
import { waitUntil } from '../../support/processes/wait-until.ts'
import { startProxy } from '../../support/proxy/start-proxy.ts'
import { type ApiClient, type ApiResponse, createClient } from '../../support/service/client.ts'
import { startDynamoDB, startSqs } from '../../support/service/port-emulators.ts'
import { startService } from '../../support/service/start-service.ts'
import { STACK_NAME } from '../../infra/monitoring/evaluate-alarms.ts'
import type { Observation } from './observed-metrics.ts'

const AGENTS = ['echo', 'failing', 'three-steps', 'wait']
const MAX_LOG_DELAY_MS = 20_000

/** A local service with metrics on, between it and its emulators a proxy each, and clients of one organization. */
export async function startMonitoredService(dataDir: string, environment: Record<string, string> = {}) {
  const [dynamodb, sqs] = await Promise.all([startDynamoDB(null), startSqs()])
  await provisionTable(dynamodb.endpoint, LOCAL_TABLE)
  const organization = await newOrganization(
    openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: dynamodb.endpoint }),
  )
  for (const slug of AGENTS) await organization.publish(slug)
  const table = await startProxy(dynamodb.endpoint)
  const queue = await startProxy(sqs.endpoint)
  const service = await startService({
    dataDir,
    environment: {
      METRICS_NAMESPACE: STACK_NAME,
      POWERTOOLS_LOG_LEVEL: 'INFO',
      // Long enough that a test ends before the sweeper finds its executions.
      LEASE_SECONDS: '30',
      DYNAMODB_ENDPOINT: table.url,
      SQS_ENDPOINT: queue.url,
      ...environment,
    },
  })
  const responses: ApiResponse[] = []
  const createRecordedClient = (token: string | null): ApiClient => {
    const call = createClient(service.url, token)
    return async (...request) => {
      const response = await call(...request)
      responses.push(response)
      return response
    }
  }
  const sqsClient = new SQSClient(clientConfig(sqs.endpoint))
  const countDeadLetters = async () => {
    const { QueueUrl } = await sqsClient.send(new GetQueueUrlCommand({ QueueName: `${LOCAL_QUEUE}-dead` }))
    const { Attributes } = await sqsClient.send(
      new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['ApproximateNumberOfMessages'] }),
    )
    return Number(Attributes?.ApproximateNumberOfMessages)
  }
  const countLines = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0
  const hasFailedSweep = (text: string) => countLines(text, FAILED_SWEEP) > 0

  return {
    organizationId: organization.id,
    table,
    queue,
    call: createRecordedClient(organization.token),
    createClient: createRecordedClient,

    /** Runs the scenario, and returns what happened meanwhile. Afterwards the proxies forward everything again. */
    async observe(scenario: () => Promise<unknown>, { untilSweepFails = false } = {}): Promise<Observation> {
      responses.length = 0
      const [stdout, stderr] = [service.stdout().length, service.stderr().length]
      await scenario()
      if (untilSweepFails)
        await waitUntil(() => hasFailedSweep(service.stderr().slice(stderr)), {
          what: 'a sweep that fails',
          limitMs: MAX_LOG_DELAY_MS,
        })
      for (const proxy of [table, queue]) proxy.use()
      // Another sweep that the fault has hit fails when its last request has ended: now, not in the next scenario.
      await waitUntil(table.isIdle, {
        what: 'the end of all requests to the table',
        limitMs: MAX_LOG_DELAY_MS,
        intervalMs: 1,
      })
      const observed = [...responses]
      // Lines arrive in order: with this one, all lines of the scenario have arrived, which precede its responses.
      const { headers } = await createClient(service.url, null)('GET', '/v1/openapi.json')
      const marker = String(headers.get('x-amzn-requestid'))
      await waitUntil(() => service.stdout().includes(marker), {
        what: 'the log of the last request',
        limitMs: MAX_LOG_DELAY_MS,
      })
      const printed = `${service.stdout().slice(stdout)}\n${service.stderr().slice(stderr)}`
      return {
        responses: observed,
        output: printed,
        failedSweeps: countLines(printed, FAILED_SWEEP),
        runnerCrashes: countLines(printed, RUNNER_CRASH),
        deadLetters: await countDeadLetters(),
      }
    },

    async stop(): Promise<void> {
      await service.kill()
      await Promise.all([table, queue].map(({ stop }) => stop()))
      await Promise.all([dynamodb.stop(), sqs.stop()])
    },
  }
}

export type MonitoredService = Awaited<ReturnType<typeof startMonitoredService>>

/** Lines that `local/service.ts` and `local/runner/runner-process.ts` print. */
const FAILED_SWEEP = /^The sweeper failed:/gm
const RUNNER_CRASH = /^The runner exited/gm
