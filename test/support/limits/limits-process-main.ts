import { setTimeout as sleep } from 'node:timers/promises'
import { LimitExceeded } from '../../../lib/core/errors.ts'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { BudgetExceeded } from '../../../lib/engine/model-agent/run-budget.ts'
import { openRunLimits } from '../../../lib/engine/model-agent/run-limits.ts'
import { system } from '../../../lib/system.ts'
import { LimitedService } from './limited-service.ts'

export type Work = {
  organizationId: string
  agentId: string
  tenantId: string
  kind: 'open' | 'runs' | 'spend'
  costUsd: number
}

/** `spans`: from the acceptance of a run to its end, in milliseconds since the epoch. */
export type Report = {
  spans: [start: number, end: number][]
  accepted: number
  refused: number
  spent: number
}

/**
 * One of many processes that run into a limit. Gets its work as its argument, says that it is ready, begins at a
 * message, and sends its report.
 */
const work: Work = JSON.parse(process.argv[2] ?? '{}')
const service = new LimitedService(openTable(), work)
const now = () => performance.timeOrigin + performance.now()
const report: Report = { spans: [], accepted: 0, refused: 0, spent: 0 }

const REQUESTS = 12
const HELD_MS = 400

/** Runs that begin and end one after the other. Other processes use some of the same idempotency keys. */
async function open(lane: number): Promise<void> {
  for (let i = 0; i < REQUESTS; i++) {
    const result = await service.trySubmit({
      tenantId: work.tenantId,
      isSync: true,
      ...(i % 3 === 0 && { key: `${lane}-${i}` }),
    })
    if (result instanceof LimitExceeded) {
      report.refused++
      continue
    }
    // Another process has this run.
    if (!service.running.has(result.id)) continue
    const start = now()
    await sleep(Math.random() * HELD_MS)
    report.spans.push([start, now()])
    report.accepted++
    await service.end(result.id)
  }
}

async function runs(): Promise<void> {
  for (let i = 0; i < 10; i++) {
    const result = await service.trySubmit({ tenantId: work.tenantId })
    if (result instanceof LimitExceeded) report.refused++
    else report.accepted++
  }
}

/** What a worker does around the model requests of one run after the other. */
async function spend(): Promise<void> {
  const execution = { ...work, id: system.newId(), batch: null, replay: null }
  const limits = openRunLimits({ ...service.engine(), system }, execution)
  for (;;) {
    try {
      await limits?.check({ name: 'a/model' })
    } catch (error) {
      if (error instanceof BudgetExceeded) return
      throw error
    }
    await sleep(Math.random() * 20)
    report.spent += work.costUsd
    await limits?.add({ inputTokens: 1, outputTokens: 1, costUsd: work.costUsd })
  }
}

process.once('message', async () => {
  const act = { open, runs, spend }[work.kind]
  await Promise.all([act(0), act(1)])
  process.send?.(report)
  process.disconnect()
})
process.send?.('ready')
