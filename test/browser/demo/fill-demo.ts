import type { AgentRecord } from '../../../lib/contract/records/agent.ts'
import { INTERVAL_MS, startOf, type UsageRow } from '../../../lib/core/usage.ts'
import { NO_TOTALS } from '../../../lib/core/usage-rows.ts'
import { DEVELOPMENT_ORGANIZATION } from '../../../local/development.ts'
import { waitUntil } from '../../support/processes/processes.ts'
import { startServer } from '../../support/service/start-server.ts'
import type { Demo } from './start-demo.ts'

/** Two webhooks: one whose receiver accepts everything, and one whose receiver fails. To be called before runs. */
export async function addWebhooks({ call }: Demo): Promise<{ failing: string; stop: () => Promise<void> }> {
  const { host, stop } = await startServer((request, response) => {
    request.resume().on('end', () => response.writeHead(request.url === '/fails' ? 500 : 204).end())
  })
  const create = async (path: string, types: string[]): Promise<string> => {
    const body = { url: `http://${host}${path}`, types, allowedHosts: [host] }
    return (await call('POST', '/v1/webhooks', { body })).json.id
  }
  await create('/events', ['execution.succeeded', 'batch.ended'])
  const failing = await create('/fails', ['execution.failed', 'execution.cancelled'])
  return { failing, stop }
}

const HOURS = 23

/** Hours ago. */
const OUTAGE = [8, 9]

/** Usage of the day before now, with an outage, and limits of a tenant, which count it. */
export async function recordUsage({ call, usage }: Demo): Promise<void> {
  const organizationId = DEVELOPMENT_ORGANIZATION.id
  const agents: AgentRecord[] = (await call('GET', '/v1/agents')).json
  const now = Date.now()
  for (let hour = 1; hour <= HOURS; hour++) {
    if (OUTAGE.includes(hour)) continue
    const rows = agents.flatMap((agent, index) =>
      TENANTS.map((tenantId, tenant) => rowOf(agent, tenantId, { hour, size: 5 - tenant + 2 * index })),
    )
    const start = startOf('hour', now) - hour * INTERVAL_MS.hour
    // Both: which of them are read depends on whether the hour is rolled up.
    for (const interval of ['minute', 'hour'] as const)
      await usage.put({ organizationId, interval, start, rows, readAt: now, isFinal: true })
  }
  const body = {
    ...{ maxCostUsd: { day: 60, month: 600 }, maxOpenExecutions: 10, maxRunsPerMinute: 120 },
    ...{ warnAt: 0.8, queueWhenFull: true },
  }
  await call('PUT', '/v1/tenants/acme/limits', { body })
}

function rowOf(agent: AgentRecord, tenantId: string | null, at: { hour: number; size: number }): UsageRow {
  const runs = Math.round(at.size * (6 + 5 * Math.sin(at.hour / 3)))
  const failed = at.hour < 5 ? Math.round(runs / 12) : 0
  return {
    ...NO_TOTALS,
    ...{ tenantId, agentId: agent.id, versionId: agent.currentVersionId ?? '', model: null, tokenId: null },
    scorer: null,
    ...{ runs, cacheHits: Math.round(runs / 10), inputTokens: 3_720 * runs, outputTokens: 288 * runs },
    errors: failed > 0 ? { AgentFailed: failed, ModelFailed: 1 } : {},
    ...{ costNanoUsd: 1_950_000 * runs, runTimeMs: 1_250 * runs },
  }
}

const TENANTS = ['acme', 'globex', 'initech', null]

const QUESTION = 'Where is my order? You can reach me at ada@example.com.'

/** Executions of all kinds. @returns the ids of those with a page of their own in the documentation */
export async function runAgents({
  run,
  call,
}: Demo): Promise<Record<'finished' | 'repeated' | 'other' | 'failed' | 'running', string>> {
  for (let number = 0; number < 12; number++) {
    const tenant = TENANTS[number % TENANTS.length]
    const query = tenant ? `tenantId=${tenant}` : ''
    await Promise.all([
      run('order-support', { orderId: `A-${1000 + number}`, question: QUESTION }, query),
      run('redact-pii', { content: `Call +44 20 7946 0958, or write to user${number}@example.com.` }, query),
      run('import-contacts', { count: 400 + number, pauseMs: 10 * number, fail: number % 5 === 4 }, query),
    ])
  }
  const other = await run('order-support', { orderId: 'B-9', question: QUESTION }, 'tenantId=acme')
  const failed = await run('import-contacts', { count: 400, pauseMs: 150, fail: true }, 'tenantId=globex')
  const repeated = await run('order-support', { orderId: 'A-1042', question: QUESTION, channel: 'chat' })
  // Adapted: another name, and a number as text.
  const sent = { order_id: 'A-2077', Question: QUESTION, channel: 'email' }
  const finished = await run('order-support', sent, 'tenantId=acme')
  const note = 'The answer should name the carrier.'
  await call('PUT', `/v1/agent_executions/${finished}/feedback`, { body: { rating: 1, note } })
  await run('import-contacts', { count: 90_000, pauseMs: 60_000 }, 'execMode=async&tenantId=initech')
  const running = await run('wait', { seconds: 600 }, 'execMode=async&tenantId=acme')
  return { finished, repeated, other, failed, running }
}

/** Tries the draft of `order-support` on its runs, until that has ended. @returns the id of the trial */
export async function runTrial({ call }: Demo): Promise<string> {
  const { draftVersionId } = (await call('GET', '/v1/agents/order-support')).json
  const body = { maxTrialCostUsd: 1, ignore: ['/confidence'] }
  const path = `/v1/agents/order-support/versions/${draftVersionId}/trials`
  const { id } = (await call('POST', path, { body })).json
  const hasEnded = async () => (await call('GET', `/v1/trials/${id}`)).json.status === 'ENDED'
  await waitUntil(hasEnded, { what: 'the end of the trial', limitMs: 240_000 })
  return id
}

/** A quarter of the tenants of `import-contacts` get its draft, unless too many of their runs fail. */
export async function startRollouts({ call, publish }: Demo): Promise<void> {
  const change = (document: string) => document.replace('in batches.', 'in four batches.')
  await publish('import-contacts', { draft: true, change })
  const { draftVersionId: versionId } = (await call('GET', '/v1/agents/import-contacts')).json
  const body = { versionId, percent: 25, abort: { maxErrorRate: 0.05, minRuns: 50 } }
  const { status, text } = await call('PUT', '/v1/agents/import-contacts/rollout', { body })
  if (status !== 200 && status !== 201) throw new Error(`The rollout did not start: ${text}`)
}

/** Approvals that are open, batches and schedules. @returns the ID of a batch that has ended */
export async function startWork({ call, run }: Demo): Promise<{ batchId: string }> {
  for (const [orderId, usd] of [
    ['A-1042', 240],
    ['A-2077', 1_250],
    ['B-17', 120.5],
  ] as const)
    await run('refund-order', { orderId, usd }, 'execMode=async&tenantId=acme')
  const lines = Array.from({ length: 24 }, (_, index) => ({
    customId: `import-${index + 1}`,
    input: { count: 40 + index, pauseMs: 1, fail: index % 8 === 7 },
  }))
  const start = async (slug: string, body: object[], query = '') => {
    const { status, json, text } = await call('POST', `/v1/agents/${slug}/batches?${query}`, { body })
    if (status !== 202) throw new Error(`A batch of ${slug} did not start: ${text}`)
    return String(json.id)
  }
  const question = 'Where is my order?'
  const orders = ['A-11', 'A-12'].map((orderId) => ({ customId: orderId, input: { orderId, question } }))
  await start('order-support', orders, 'maxBatchCostUsd=5&tenantId=globex')
  await start('wait', [{ customId: 'line-1', input: { seconds: 600 } }])
  const batchId = await start('import-contacts', lines, 'tenantId=acme')
  const schedule = (slug: string, name: string, body: object) =>
    call('PUT', `/v1/agents/${slug}/schedules/${name}`, { body })
  await schedule('import-contacts', 'nightly', {
    ...{ cron: '30 2 * * *', timezone: 'America/New_York', input: { count: 400 } },
  })
  await schedule('import-contacts', 'weekly', { cron: '@weekly', input: { count: 1 }, enabled: false })
  const hasEnded = async () => (await call('GET', `/v1/batches/${batchId}`)).json.status === 'ENDED'
  await waitUntil(hasEnded, { what: 'the end of the batch', limitMs: 240_000, intervalMs: 200 })
  return { batchId }
}
