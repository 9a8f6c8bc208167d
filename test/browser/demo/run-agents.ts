import type { Demo } from './start-demo.ts'

export const TENANTS = ['acme', 'globex', 'initech', null]

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
