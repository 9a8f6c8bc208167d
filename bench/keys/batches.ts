import { type Batch, firstLane, type Lane, lineExecutionId } from '../../lib/core/batch.ts'
import { NO_USAGE, newExecution } from '../../lib/core/execution.ts'
import { DEADLINE_MS, LEASE_MS } from '../../lib/core/limits.ts'
import { batchStore } from '../../lib/dynamodb/batch-store.ts'
import { executionStore } from '../../lib/dynamodb/executions/execution-store.ts'
import { countingTable } from './counting-table.ts'
import { type HotKey, hottestKeys } from './hot-keys.ts'
import { payloadOf } from './payloads.ts'
import { createId, createRandom } from './random.ts'

/** Any day. */
const START = Date.UTC(2026, 10, 25)
const PAYLOAD_BYTES = 400

export type BatchScenario = { name: string; batches: number; lines: number; lanes: number }

/** Of one organization and agent. */
export const BATCH_SCENARIOS: BatchScenario[] = [
  { name: 'one batch', batches: 1, lines: 10_000, lanes: 500 },
  { name: 'twenty batches', batches: 20, lines: 500, lanes: 50 },
]

/** Write units of the hottest key of each resource, per line. Makes the store calls of the feeder and the worker. */
export async function simulateBatches(
  { batches: count, lines: lineCount, lanes }: BatchScenario,
  seed = 1,
): Promise<HotKey[]> {
  const random = createRandom(seed)
  const { table, usage } = countingTable()
  const [batches, executions] = [batchStore(table), executionStore(table)]
  const [organizationId, agentId] = [createId(random, 0), createId(random, 0)]
  const input = payloadOf(PAYLOAD_BYTES)
  const options = { maxAgentSteps: 100, model: null, useDynamicLearning: false }

  /** Accepts a batch, and returns what executes a line of it. */
  async function accept(): Promise<(line: number) => Promise<void>> {
    const batch = await batches.create({
      batch: {
        ...{ id: createId(random, START), organizationId, agentId, versionId: agentId, tokenId: agentId },
        ...{
          isDraft: false,
          tenantId: null,
          selectedBy: 'CURRENT',
          options: {},
          webhookUrl: null,
          trial: null,
          sums: null,
          retryOf: null,
          idempotencyId: null,
          maxCostUsd: null,
        },
        ...{ lines: lineCount, lanes, status: 'IN_PROGRESS', stopped: null, endedAt: null, totals: null },
        ...{ createdAt: new Date(START).toISOString(), openUntil: START + LEASE_MS },
      },
      lines: Array.from({ length: lineCount }, (_, line) => ({ customId: `line-${line}`, input })),
    })
    if (!batch) throw new Error('The batch exists.')
    const stored: Lane[] = Array.from({ length: lanes }, (_, number) => firstLane(number, batch))
    return (line) => executeLine(batch, stored, line)
  }

  async function executeLine(batch: Batch, stored: Lane[], line: number): Promise<void> {
    const { organizationId, agentId, versionId, tenantId, tokenId } = batch
    const [id, number] = [lineExecutionId(batch, line), line % lanes]
    const execution = newExecution({
      ...{ id, organizationId, agentId, versionId, tenantId, tokenId, input, options, now: START },
      ...{ batch: { id: batch.id, customId: `line-${line}`, line, lane: number } },
      ...{ deadlineMs: DEADLINE_MS, lease: null },
    })
    await executions.create({ execution })
    const lease = { owner: id, expiresAt: START + LEASE_MS }
    await executions.claim({ id, lease, now: START })
    await executions.finish({
      execution: { ...execution, lease },
      outcome: { status: 'SUCCESS', output: input, steps: 0, usage: NO_USAGE, model: null },
      finishedAt: new Date(START).toISOString(),
    })
    const lane = stored[number] as Lane
    const next = { ...lane, succeeded: lane.succeeded + 1, line: lane.next, next: lane.next + lanes }
    await batches.putLane({ batch, lane: next, replaces: line })
    stored[number] = next
  }

  const all = await Promise.all(Array.from({ length: count }, accept))
  for (let line = 0; line < lineCount; line++) for (const execute of all) await execute(line)
  const runs = count * lineCount
  return hottestKeys({ usage, runs }).filter(({ unit }) => unit === 'writes')
}
