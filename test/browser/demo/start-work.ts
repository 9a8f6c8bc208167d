import { waitUntil } from '../../support/processes/wait-until.ts'
import type { Demo } from './start-demo.ts'

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
