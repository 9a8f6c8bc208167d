// From npm: import { Client } from 'agent-execution-client'
import { Client } from '../../clients/typescript/src/index.ts'

/** Prints what each tenant owes for a month, in UTC: `npx node invoices.ts 2026-11`. */
const { BASE_URL = 'http://127.0.0.1:3000', API_TOKEN = '' } = process.env
const month = process.argv[2] ?? ''

/** What you charge: the price of the models with a margin, and a price for each run. */
const MARGIN = 1.2
const USD_PER_RUN = 0.001

const start = new Date(`${month}-01T00:00:00Z`)
const end = new Date(start)
end.setUTCMonth(start.getUTCMonth() + 1)

/** Costs have nine decimals: sums of billionths are exact. */
type Total = { runs: number; nanoUsd: number; unpricedRuns: number }
const totals = new Map<string, Total>()

const client = new Client({ baseUrl: BASE_URL, token: API_TOKEN })
const days = client.usage({
  groupBy: ['tenant'],
  interval: 'day',
  from: start.toISOString(),
  to: end.toISOString(),
})
for await (const { tenantId, runs, costUsd, unpricedRuns } of days) {
  // Your own runs.
  if (!tenantId) continue
  const total = totals.get(tenantId) ?? { runs: 0, nanoUsd: 0, unpricedRuns: 0 }
  total.runs += runs
  total.nanoUsd += Math.round(costUsd * 1e9)
  total.unpricedRuns += unpricedRuns
  totals.set(tenantId, total)
}

for (const [tenantId, { runs, nanoUsd, unpricedRuns }] of totals) {
  const usd = (nanoUsd / 1e9) * MARGIN + runs * USD_PER_RUN
  console.log(`${tenantId}: ${runs} runs, $${usd.toFixed(2)}`)
  if (unpricedRuns > 0) console.error(`${tenantId}: ${unpricedRuns} runs used a model without a price.`)
}
