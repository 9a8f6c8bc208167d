import { randomInt } from 'node:crypto'
import { expect, inject, it } from 'vitest'
import { countingTable } from '../../../bench/keys/counting-table.ts'
import { type Batch, type LineInput, lineExecutionId } from '../../../lib/core/batch.ts'
import { type BatchLine, type Execution, NO_USAGE } from '../../../lib/core/execution.ts'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import { DEADLINE_MS } from '../../../lib/core/limits.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { openBatchEngine } from '../../../lib/engine/batches/batch-engine.ts'
import { afterLine, feedBatch } from '../../../lib/engine/batches/feed.ts'
import { system } from '../../../lib/system.ts'
import { provisionTable } from '../../../local/emulators/provision.ts'
import { aBatch } from '../../support/batches/a-batch.ts'
import { anExecution, executionOf } from '../../support/engine/executions.ts'
import { aModelAgent } from '../../support/engine/model-agent.ts'
import { meterCapacity } from '../../support/proxy/observe.ts'
import { startProxy } from '../../support/proxy/start-proxy.ts'

const LINES = 200
const LANES = 20

const TEXT = 'Why is the order late? '
const textOf = (bytes: number) => TEXT.repeat(Math.ceil(bytes / TEXT.length)).slice(0, bytes)
/** Of 91 characters that JSON does not escape: gzip leaves 82 %. */
const randomOf = (bytes: number) =>
  Array.from({ length: bytes }, () => String.fromCharCode(35 + randomInt(91)).replace('\\', ' ')).join('')

const lineOf = (line: number, bytes: number, text: (bytes: number) => string): LineInput => {
  const withText = (question: string) => ({ customId: `order-${line}`, input: { question } })
  return withText(text(bytes - JSON.stringify(withText('')).length))
}

async function meteredService() {
  const name = `batch-units-${system.newId()}`
  await provisionTable(inject('dynamodb'), name)
  const meter = meterCapacity()
  const proxy = await startProxy(inject('dynamodb'), meter.behavior)
  const table = openTable({ TABLE_NAME: name, DYNAMODB_ENDPOINT: proxy.url })
  const stores = openStores(table)
  const queue = { send: async () => undefined, feed: async () => undefined }
  const engine = openBatchEngine({ ...stores, queue, system, times: leaseTimes() })
  const version = await aModelAgent({}, { table })
  const { organizationId, agentId, id: versionId } = version
  const tokenId = system.newId()

  /** What a worker writes of a run. */
  async function process(execution: Pick<Execution, 'id' | 'organizationId'>): Promise<Execution> {
    const lease = { owner: system.newId(), expiresAt: Date.now() + leaseTimes().leaseMs }
    const claimed = await stores.executions.claim({ id: execution.id, lease, now: Date.now() })
    if (typeof claimed === 'string') throw new Error(claimed)
    const outcome = {
      status: 'SUCCESS' as const,
      output: { answer: 'a' },
      steps: 0,
      usage: NO_USAGE,
      model: null,
    }
    const finishedAt = new Date().toISOString()
    return (await stores.executions.finish({ execution: claimed, outcome, finishedAt })) as Execution
  }

  async function measureBatch(lines: LineInput[]) {
    meter.take()
    const given = aBatch({ lines, organizationId, agentId, versionId, tokenId, lanes: LANES })
    const batch = (await stores.batches.create(given)) as Batch
    await feedBatch(engine, { batchId: batch.id, organizationId })
    const executions: Execution[] = []
    for (let first = 0; first < lines.length; first += LANES)
      await Promise.all(
        Array.from({ length: LANES }, async (_, lane) => {
          const ended = await process({ id: lineExecutionId(batch, first + lane), organizationId })
          await afterLine(engine, ended)
          executions.push(ended)
        }),
      )
    expect(await stores.batches.get(batch)).toMatchObject({
      status: 'ENDED',
      totals: { succeeded: lines.length },
    })
    return { units: meter.take().writeUnits / lines.length, executions }
  }

  /** The same runs, each started by itself. */
  async function measureRuns(executions: Execution[]) {
    meter.take()
    for (const { input, options } of executions.slice(0, LANES)) {
      const execution = executionOf(version, { input, options, tokenId, deadlineMs: DEADLINE_MS })
      await stores.executions.create({ execution })
      await process(execution)
    }
    return meter.take().writeUnits / LANES
  }

  return { measureBatch, measureRuns, stop: proxy.stop }
}

it.each([
  [400, 'text', textOf, 1.1],
  [500, 'random', randomOf, 1.5],
])(
  'a line of %i bytes of %s costs few write units more than the same run alone',
  async (bytes, _, text, max) => {
    const service = await meteredService()
    const lines = Array.from({ length: LINES }, (_, line) => lineOf(line, bytes, text))
    const { units, executions } = await service.measureBatch(lines)
    const extra = units - (await service.measureRuns(executions))
    expect(extra).toBeGreaterThan(1)
    expect(extra).toBeLessThanOrEqual(max)
    await service.stop()
  },
)

it('the record of a line is hardly larger than that of the same run alone', async () => {
  const sizeOf = async (batch: BatchLine | null) => {
    const { table, usage } = countingTable()
    const execution = anExecution({ tokenId: system.newId(), batch })
    await openStores(table).executions.create({ execution })
    expect(await openStores(table).executions.getSummary(execution)).toMatchObject({
      batch,
      source: execution.source,
    })
    return usage.storedBytes().table
  }
  const line = { id: system.newId(), customId: 'order-17', line: 9_999, lane: 499 }
  // Each of its three writes costs a unit more if its size exceeds another kilobyte.
  expect((await sizeOf(line)) - (await sizeOf(null))).toBeLessThanOrEqual(32)
})
