import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadFolder } from '../../lib/agents/load-folder.ts'
import { parseDocument } from '../../lib/agents/parse-document.ts'
import { publishAgent } from '../../lib/agents/publish-agent.ts'
import { agentStore } from '../../lib/dynamodb/agent-store.ts'
import { organizationStore } from '../../lib/dynamodb/organization-store.ts'
import { openTable, type Table } from '../../lib/dynamodb/table.ts'
import { tokenStore } from '../../lib/dynamodb/token-store.ts'
import { DYNAMODB_ENDPOINT, QUEUE_URL, SQS_ENDPOINT, TABLE_NAME } from '../../lib/environment.ts'
import { system } from '../../lib/system.ts'
import { newToken } from '../../lib/tokens/token.ts'
import { freePort, startDynamoDB } from '../../local/dynamodb.ts'
import { LOCAL_TABLE } from '../../local/open-store.ts'
import { provisionQueues, provisionTable, QUEUE_NAME } from '../../local/provision.ts'
import { startSqs } from '../../local/sqs.ts'
import { clientOf } from '../support/client.ts'
import { startFaultProxy } from './fault-proxy.ts'
import { keepRunner } from './kept-runner.ts'
import { type KeptService, keepService } from './kept-service.ts'
import { type ModelAndTools, startModelAndTools } from './model-and-tools.ts'
import { CODE_AGENT, MODEL_AGENT } from './plan.ts'
import { watchTable } from './table-watch.ts'

const FIXTURES = fileURLToPath(new URL('../fixtures/agents', import.meta.url))
const SERVICES = ['a', 'b']
const MORE_RUNNERS = 2

export type World = Awaited<ReturnType<typeof startWorld>>

/**
 * Two services on one table and one queue, each behind its proxy: the proxies make no faults yet. Emulators, model and
 * tools are the harness's own and are never killed.
 */
export async function startWorld({ seed, leaseSeconds }: { seed: number; leaseSeconds: number }) {
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
    const watch = watchTable()
    const proxies = {
      dynamodb: await started(
        startFaultProxy({
          target: dynamodb.endpoint,
          kind: 'dynamodb',
          seed,
          rate: 0,
          onExchange: watch.onExchange,
        }),
      ),
      sqs: await started(startFaultProxy({ target: sqs.endpoint, kind: 'sqs', seed, rate: 0 })),
    }
    const models = await started(startModelAndTools())

    await provisionTable(dynamodb.endpoint, LOCAL_TABLE)
    const table = openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: dynamodb.endpoint })
    const { organizationId, token } = await newOrganization(table)
    await publishAgents(table, organizationId, models)

    const environment = {
      ...models.environment,
      [DYNAMODB_ENDPOINT]: proxies.dynamodb.url,
      [SQS_ENDPOINT]: proxies.sqs.url,
      LEASE_SECONDS: String(leaseSeconds),
      // What npm sets for its scripts makes a service end with its parent: a harness that is killed leaves none.
      npm_lifecycle_event: 'test:faults',
    }
    const services: KeptService[] = []
    for (const name of SERVICES) {
      const own = { ...environment, PORT: String(await freePort()) }
      const service = keepService({ dataDir: join(folder, name), environment: own })
      stops.push(service.stop)
      services.push(service)
    }
    await Promise.all(services.map((service) => service.ready()))
    const queues = await provisionQueues(proxies.sqs.url, QUEUE_NAME, leaseSeconds + 1)
    const runners = Array.from({ length: MORE_RUNNERS }, () =>
      keepRunner({
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
      watch,
      models,
      services,
      runners,
      clients: services.map(({ url }) => clientOf(url, token)),
      /** Where the code agents log each step that they compute. */
      log,
      computedSteps: () => readLines(log),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

export function killsOf({ services, runners }: World) {
  const gateways = services.reduce((sum, { counts }) => sum + counts.gatewayKills, 0)
  const others =
    services.reduce((sum, { counts }) => sum + counts.runnerKills, 0) +
    runners.reduce((sum, { counts }) => sum + counts.kills, 0)
  return { gateways, runners: others, all: gateways + others }
}

async function newOrganization(table: Table) {
  const organizationId = system.newId()
  const createdAt = new Date().toISOString()
  await organizationStore(table).create({ organization: { id: organizationId, name: 'Faults', createdAt } })
  const created = newToken({
    system,
    organizationId,
    name: 'faults',
    createdBy: organizationId,
    lifetimeMs: null,
  })
  await tokenStore(table).create({ token: created.token })
  return { organizationId, token: created.text }
}

async function publishAgents(table: Table, organizationId: string, models: ModelAndTools): Promise<void> {
  const { document } = parseDocument(modelAgent(models), MODEL_AGENT)
  const { agent } = await loadFolder(join(FIXTURES, CODE_AGENT))
  if (!document || !agent) throw new Error('An agent of the harness does not load.')
  for (const loaded of [agent, { document, code: null, digest: '' }]) {
    const store = agentStore(table)
    await publishAgent({
      store,
      system,
      organizationId,
      createdBy: organizationId,
      agent: loaded,
      draft: false,
    })
  }
}

const modelAgent = ({ model, toolHost }: ModelAndTools) => `---
title: Looking up
description: Looks values up and adds them up.
model: ${model}
input:
  marker: { type: string, description: Names the run. }
  steps: { type: integer, description: How many responses it takes. }
  parallel: { type: integer, description: How many values it looks up at a time. }
output:
  marker: { type: string, description: The marker of the input. }
  total: { type: integer, description: The sum of the values. }
tools:
  - name: look_up
    description: Looks a value up.
    input:
      marker: { type: string, description: Names the run. }
      step: { type: integer, description: Which response asks. }
      call: { type: integer, description: Which of its calls this is. }
    http: { method: GET, url: "http://${toolHost}/{marker}/{step}/{call}", allowedHosts: ["${toolHost}"] }
---
Look the values up and add them up.
`

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').trim().split('\n')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
