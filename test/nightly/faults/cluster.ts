import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { DYNAMODB_ENDPOINT, SQS_ENDPOINT } from '../../../lib/environment.ts'
import { LOCAL_TABLE, provisionTable } from '../../../local/emulators/provision.ts'
import { createOrganization } from '../../support/engine/access.ts'
import { inject, scheduledFaults } from '../../support/proxy/faults.ts'
import { observe } from '../../support/proxy/observe.ts'
import { startProxy } from '../../support/proxy/start-proxy.ts'
import { createClient } from '../../support/service/client.ts'
import { freePort, startDynamoDB, startSqs } from '../../support/service/port-emulators.ts'
import { createOutages } from './database/outages.ts'
import { targetFaults } from './database/targeted-faults.ts'
import { monitorWrites } from './database/write-monitor.ts'
import { ECHO_AGENT } from './load/hang-ups.ts'
import { startModelAndTools } from './load/model-and-tools.ts'
import { CODE_AGENT, FLAKY_AGENT, HOSTILE_AGENT, TIMED_AGENT, WAITING_AGENT } from './load/planned-run.ts'
import { loadFixture, loadModelAgents, publishAgents } from './load/publish-agents.ts'
import { type SupervisedService, superviseService } from './processes/supervised-service.ts'
import { startReceivers } from './receivers.ts'

/** As the clients of the proxies are named. */
const SERVICES = ['service-a', 'service-b']
const HOSTILE_TIMEOUT_SECONDS = 2
const TIMED_TIMEOUT_SECONDS = 15
/** The first delay of a retry. SQS counts in seconds: five attempts take about 15 s instead of four minutes. */
const FIRST_BACKOFF_MS = '200'

export type Cluster = Awaited<ReturnType<typeof startCluster>>

/**
 * Two services on one table and one queue, behind fault proxies at rate 0. The emulators, the model
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
    const services = new Map<string, SupervisedService>()
    const timing = { seed, leaseMs: leaseSeconds * 1000 }
    const kill = (client: string) => services.get(client)?.kill('runner')
    const targeted = targetFaults({ ...timing, kill })
    const outages = createOutages(timing)
    const faults = {
      dynamodb: scheduledFaults({ target: 'dynamodb', seed, rate: 0 }),
      sqs: scheduledFaults({ target: 'sqs', seed, rate: 0 }),
    }
    const injected = inject((request) => outages.inject(request) ?? targeted.inject(request))
    const proxies = {
      dynamodb: await started(
        startProxy(dynamodb.endpoint, injected, faults.dynamodb.behavior, observe(monitor.onExchange)),
      ),
      sqs: await started(startProxy(sqs.endpoint, faults.sqs.behavior)),
    }
    const models = await started(startModelAndTools())

    await provisionTable(dynamodb.endpoint, LOCAL_TABLE)
    const table = openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: dynamodb.endpoint })
    const { id: organizationId, token } = await createOrganization(table)
    const hostile = await loadFixture(HOSTILE_AGENT)
    hostile.document.execution.timeoutSeconds = HOSTILE_TIMEOUT_SECONDS
    const timed = await loadFixture(CODE_AGENT)
    Object.assign(timed.document, { slug: TIMED_AGENT })
    timed.document.execution.timeoutSeconds = TIMED_TIMEOUT_SECONDS
    const fixtures = await Promise.all([CODE_AGENT, ECHO_AGENT, FLAKY_AGENT, WAITING_AGENT].map(loadFixture))
    const agents = [...fixtures, hostile, timed, ...loadModelAgents(models)]
    await publishAgents(table, organizationId, agents)

    const receivers = await started(startReceivers(table, organizationId))

    const environment = {
      ...models.environment,
      [SQS_ENDPOINT]: proxies.sqs.url,
      LEASE_SECONDS: String(leaseSeconds),
      RETRY_BACKOFF_MS: FIRST_BACKOFF_MS,
      AGENT_MEMORY_MB: '64',
      // As npm sets it for its scripts: the services then exit with the harness, even when it is killed.
      npm_lifecycle_event: 'test:faults',
    }
    for (const name of SERVICES) {
      const port = String(await freePort())
      const endpoint = await proxies.dynamodb.urlFor(name)
      const service = superviseService({
        dataDir: join(folder, name),
        environment: { ...environment, PORT: port, [DYNAMODB_ENDPOINT]: endpoint },
      })
      stops.push(service.stop)
      services.set(name, service)
    }
    await Promise.all([...services.values()].map((service) => service.ready()))
    const log = join(folder, 'steps.log')
    return {
      endpoint: dynamodb.endpoint,
      table,
      organizationId,
      faults,
      proxies,
      monitor,
      outages,
      targeted,
      models,
      receivers,
      services: [...services.values()],
      token,
      clients: [...services.values()].map(({ url }) => createClient(url, token)),
      /** The file in which the code agent logs each step that it computes. */
      log,
      computedSteps: () => readLines(log),
      kills() {
        const ofServices = [...services.values()].map(({ counts }) => counts)
        const gateways = ofServices.reduce((sum, { gatewayKills }) => sum + gatewayKills, 0)
        const runners = ofServices.reduce((sum, { runnerKills }) => sum + runnerKills, 0)
        return { gateways, all: gateways + runners }
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
