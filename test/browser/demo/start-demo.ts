import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { publishAgent } from '../../../lib/agents/lifecycle/publish-agent.ts'
import { loadFolder } from '../../../lib/agents/load-folder.ts'
import type { LimitStore, UsageStore } from '../../../lib/core/ports.ts'
import { agentStore } from '../../../lib/dynamodb/agent-store.ts'
import { limitStore } from '../../../lib/dynamodb/limit-store.ts'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { usageStore } from '../../../lib/dynamodb/usage-store.ts'
import { system } from '../../../lib/system.ts'
import { DEVELOPMENT_ORGANIZATION } from '../../../local/development.ts'
import { LOCAL_TABLE } from '../../../local/emulators/provision.ts'
import { type Behavior, startProxy } from '../../support/proxy/start-proxy.ts'
import { startScriptedModel } from '../../support/scripted-model/start-scripted-model.ts'
import { type ApiClient, createLocalClient, readDevToken } from '../../support/service/client.ts'
import { startDynamoDB } from '../../support/service/port-emulators.ts'
import { startService } from '../../support/service/start-service.ts'
import { demoAgents } from './agents.ts'
import { supportModel } from './support-model.ts'

export type Demo = {
  url: string
  token: string
  call: ApiClient
  /** Runs an agent and returns the id of its execution, which is final unless the query says `execMode=async`. */
  run: (slug: string, input: object, query?: string) => Promise<string>
  publish: (
    slug: string,
    options?: { draft?: boolean; change?: (document: string) => string },
  ) => Promise<void>
  usage: Pick<UsageStore, 'put'>
  limits: Pick<LimitStore, 'addSpent'>
  stop: () => Promise<void>
}

const PRICES = JSON.stringify({ 'openai-compatible/*': { input: 0.4, output: 1.6 } })

/**
 * A service of its own with agents that use a scripted model, tools over HTTP, and each other.
 * @param behaviors of a proxy before its database
 */
export async function startDemo(...behaviors: Behavior[]): Promise<Demo> {
  const folder = mkdtempSync(join(tmpdir(), 'aes-demo-'))
  const [dynamodb, model, tools] = await Promise.all([
    startDynamoDB(null),
    startScriptedModel(),
    startTools(),
  ])
  model.script('qwen3-32b', supportModel)
  const proxy = behaviors.length > 0 ? await startProxy(dynamodb.endpoint, ...behaviors) : null
  const service = await startService({
    dataDir: folder,
    environment: {
      DYNAMODB_ENDPOINT: proxy?.url ?? dynamodb.endpoint,
      MODEL_PRICES: PRICES,
      DEFAULT_MODEL: 'openai-compatible/qwen3-32b',
      ...(model.environmentFor('openai-compatible') as Record<string, string>),
    },
  })
  const call = createLocalClient(service.url, folder)
  const table = openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: dynamodb.endpoint })
  const store = agentStore(table)
  const demo: Demo = {
    url: service.url,
    token: readDevToken(folder),
    call,
    usage: usageStore(table),
    limits: limitStore(table),
    async run(slug, input, query = '') {
      const { headers, json } = await call('POST', `/v1/agents/${slug}/executions?${query}`, { body: input })
      return headers.get('x-execution-id') ?? json.id ?? json.executionId
    },
    async publish(slug, { draft = false, change = (text: string) => text } = {}) {
      const { document, code } = demoAgents(tools.url)[slug] ?? { document: '' }
      const source = join(folder, 'agents', slug)
      mkdirSync(source, { recursive: true })
      writeFileSync(join(source, 'agent.md'), change(document))
      if (code) writeFileSync(join(source, 'agent.ts'), code)
      const { agent, problems } = await loadFolder(source)
      if (!agent) throw new Error(JSON.stringify(problems))
      const organizationId = DEVELOPMENT_ORGANIZATION.id
      await publishAgent({ store, system, organizationId, createdBy: organizationId, agent, draft })
    },
    async stop() {
      await service.stop()
      await proxy?.stop()
      await Promise.all([dynamodb.stop(), model.stop(), tools.stop()])
      rmSync(folder, { recursive: true })
    },
  }
  for (const slug of Object.keys(demoAgents(tools.url))) await demo.publish(slug)
  return demo
}

/** Orders and shipments. The order B-7 does not exist. */
async function startTools() {
  const server = createServer((request, response) => {
    const [, kind, id] = (request.url ?? '').split('/')
    const isMissing = id === 'B-7'
    const body = isMissing
      ? { error: `There is no order ${id}.` }
      : kind === 'orders'
        ? { id, status: 'shipped', total: { amount: 42.5, currency: 'EUR' }, customer: 'ada@example.com' }
        : { carrier: 'DHL', location: 'Leipzig', expected: '2026-11-24', events: ['accepted', 'in transit'] }
    const delayMs = kind === 'orders' ? 120 : 260
    setTimeout(() => {
      response.writeHead(isMissing ? 404 : 200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body))
    }, delayMs)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
