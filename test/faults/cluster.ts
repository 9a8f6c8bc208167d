import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openTable } from '../../lib/dynamodb/table/table.ts'
import { DYNAMODB_ENDPOINT, QUEUE_URL, SQS_ENDPOINT, TABLE_NAME } from '../../lib/environment.ts'
import { LOCAL_QUEUE, LOCAL_TABLE, provisionQueues, provisionTable } from '../../local/emulators/provision.ts'
import { freePort, startDynamoDB, startSqs } from '../../local/emulators/start-emulators.ts'
import { createClient } from '../support/client.ts'
import { createOrganization } from '../support/create-organization.ts'
import { startFaultProxy } from './fault-proxy.ts'
import { startModelAndTools } from './load/model-and-tools.ts'
import { loadFixture, loadModelAgent, publishAgents } from './load/publish-agents.ts'
import { CODE_AGENT, HOSTILE_AGENT } from './load/workload.ts'
import { superviseRunner } from './processes/supervised-runner.ts'
import { type SupervisedService, superviseService } from './processes/supervised-service.ts'
import { monitorWrites } from './write-monitor.ts'

const SERVICES = ['a', 'b']
const EXTRA_RUNNERS = 2
const HOSTILE_TIMEOUT_SECONDS = 2

export type Cluster = Awaited<ReturnType<typeof startCluster>>

/**
 * Two services and more runners on one table and one queue, behind fault proxies at rate 0. The emulators, the model
 * and the tools run in the harness's own process and are never killed.
 */
export async function startCluster({ seed, leaseSeconds }: { seed: number; leaseSeconds: number }) {
  const stops: (() => unknown)[] = []
  const stop = async () => {
    for (const stopPart of stops.splice(0).reverse()) await stopPart()
  }
  const started = async <T extends { stop: () => Promise<void> }>(starting: Promise<T>): Promise<T> => {
    const part = await starting
    stops.push(part.stop)
    return part
  }
  try {
    const folder = mkdtempSync(join(tmpdir(), 'aes-faults-'))
    stops.push(() => rmSync(folder, { recursive: true, force: true }))
    const [dynamodb, sqs] = [await started(startDynamoDB(null)), await started(startSqs())]
    const monitor = monitorWrites()
    const proxies = {
      dynamodb: await started(
        startFaultProxy({
          target: dynamodb.endpoint,
          kind: 'dynamodb',
          seed,
          rate: 0,
          onExchange: monitor.onExchange,
        }),
      ),
      sqs: await started(startFaultProxy({ target: sqs.endpoint, kind: 'sqs', seed, rate: 0 })),
    }
    const models = await started(startModelAndTools())

    await provisionTable(dynamodb.endpoint, LOCAL_TABLE)
    const table = openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: dynamodb.endpoint })
    const { id: organizationId, token } = await createOrganization(table)
    const hostile = await loadFixture(HOSTILE_AGENT)
    hostile.document.execution.timeoutSeconds = HOSTILE_TIMEOUT_SECONDS
    const agents = [await loadFixture(CODE_AGENT), hostile, loadModelAgent(models)]
    await publishAgents(table, organizationId, agents)

    const environment = {
      ...models.environment,
      [DYNAMODB_ENDPOINT]: proxies.dynamodb.url,
      [SQS_ENDPOINT]: proxies.sqs.url,
      LEASE_SECONDS: String(leaseSeconds),
      AGENT_MEMORY_MB: '64',
      // As npm sets it for its scripts: the services then exit with the harness, even when it is killed.
      npm_lifecycle_event: 'test:faults',
    }
    const services: SupervisedService[] = []
    for (const name of SERVICES) {
      const port = String(await freePort())
      const service = superviseService({
        dataDir: join(folder, name),
        environment: { ...environment, PORT: port },
      })
      stops.push(service.stop)
      services.push(service)
    }
    await Promise.all(services.map((service) => service.ready()))
    const queues = await provisionQueues(proxies.sqs.url, LOCAL_QUEUE, leaseSeconds + 1)
    const runners = Array.from({ length: EXTRA_RUNNERS }, () =>
      superviseRunner({
        deadLetters: queues.deadLetters,
        environment: { ...environment, [TABLE_NAME]: LOCAL_TABLE, [QUEUE_URL]: queues.runs },
      }),
    )
    stops.push(() => Promise.all(runners.map((runner) => runner.stop())))

    const log = join(folder, 'steps.log')
    return {
      endpoint: dynamodb.endpoint,
      table,
      organizationId,
      proxies,
      monitor,
      models,
      services,
      runners,
      clients: services.map(({ url }) => createClient(url, token)),
      /** The file in which the code agent logs each step that it computes. */
      log,
      computedSteps: () => readLines(log),
      kills() {
        const gateways = services.reduce((sum, { counts }) => sum + counts.gatewayKills, 0)
        const ofRunners =
          services.reduce((sum, { counts }) => sum + counts.runnerKills, 0) +
          runners.reduce((sum, { counts }) => sum + counts.kills, 0)
        return { gateways, runners: ofRunners, all: gateways + ofRunners }
      },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').trim().split('\n')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
