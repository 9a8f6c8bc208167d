import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { UsageStore } from '../../../lib/core/ports/usage.ts'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { usageStore } from '../../../lib/dynamodb/usage-store.ts'
import { LOCAL_TABLE } from '../../../local/emulators/provision.ts'
import { startScriptedModel } from '../../support/scripted-model/start-scripted-model.ts'
import { type ApiClient, createClient, readDevToken } from '../../support/service/client.ts'
import { startDynamoDB } from '../../support/service/port-emulators.ts'
import { startServer } from '../../support/service/start-server.ts'
import { startService } from '../../support/service/start-service.ts'
import { demoAgents, supportModel } from './agents.ts'

/** `token` is the development token; `tools` and `dynamodb` are URLs. */
export type DemoAddress = { url: string; token: string; tools: string; dynamodb: string }

export type Demo = DemoAddress & {
  call: ApiClient
  /** Runs an agent and returns the id of its execution, which is final unless the query says `execMode=async`. */
  run: (slug: string, input: object, query?: string) => Promise<string>
  /** @returns the ID of the version */
  publish: (
    slug: string,
    options?: { draft?: boolean; change?: (document: string) => string },
  ) => Promise<string>
  /** A run of `import-contacts` whose second batch does not end before it is opened. */
  startGated: (query?: string) => Promise<{ id: string; open: () => Promise<unknown> }>
  usage: Pick<UsageStore, 'put'>
}

const PRICES = JSON.stringify({ 'openai-compatible/*': { input: 0.4, output: 1.6 } })

/** A demo that another process may have started. */
export function connectDemo(address: DemoAddress): Demo {
  const call = createClient(address.url, address.token)
  const table = openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: address.dynamodb })
  const run: Demo['run'] = async (slug, input, query = '') => {
    const { headers, json } = await call('POST', `/v1/agents/${slug}/executions?${query}`, { body: input })
    return headers.get('x-execution-id') ?? json.id ?? json.executionId
  }
  return {
    ...address,
    call,
    usage: usageStore(table),
    run,
    async startGated(query = '') {
      const gate = randomUUID()
      return {
        id: await run('import-contacts', { count: 8, gate }, `execMode=async&${query}`),
        open: () => fetch(`${address.tools}/gates/${gate}`, { method: 'PUT' }),
      }
    },
    async publish(slug, { draft = false, change = (text: string) => text } = {}) {
      const { document = '', code } = demoAgents(address.tools)[slug] ?? {}
      const body = { document: change(document).replace('---\n', `---\nslug: ${slug}\n`), code, draft }
      const { status, json, text } = await call('POST', '/v1/agents', { body })
      if (status !== 200 && status !== 201) throw new Error(`${slug} was not published: ${text}`)
      return json.id
    },
  }
}

/** Publishes the agents of the demo. */
export async function publishAgents(demo: Demo): Promise<Demo> {
  for (const slug of Object.keys(demoAgents(demo.tools))) await demo.publish(slug)
  return demo
}

/** A service of its own with agents that use a scripted model, tools over HTTP, and each other. */
export async function startDemo(): Promise<Demo & { stop: () => Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'aes-demo-'))
  const [dynamodb, model, tools] = await Promise.all([
    startDynamoDB(null),
    startScriptedModel(),
    startTools(),
  ])
  model.script('qwen3-32b', supportModel)
  const service = await startService({
    dataDir: folder,
    environment: {
      DYNAMODB_ENDPOINT: dynamodb.endpoint,
      MODEL_PRICES: PRICES,
      DEFAULT_MODEL: 'openai-compatible/qwen3-32b',
      ...(model.environmentFor('openai-compatible') as Record<string, string>),
    },
  })
  const demo = await publishAgents(
    connectDemo({
      ...{ url: service.url, token: readDevToken(folder) },
      ...{ tools: tools.url, dynamodb: dynamodb.endpoint },
    }),
  )
  return {
    ...demo,
    async stop() {
      await service.stop()
      await Promise.all([dynamodb.stop(), model.stop(), tools.stop()])
      rmSync(folder, { recursive: true })
    },
  }
}

/** Orders and shipments. The order B-7 does not exist. A GET of a gate is answered after a PUT. */
async function startTools() {
  const gates = new Map<string, PromiseWithResolvers<void>>()
  return startServer(async (request, response) => {
    const [, kind, id = ''] = (request.url ?? '').split('/')
    if (kind === 'gates') {
      const gate = gates.get(id) ?? Promise.withResolvers<void>()
      gates.set(id, gate)
      if (request.method === 'PUT') gate.resolve()
      await gate.promise
      response.end()
      return
    }
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
}
