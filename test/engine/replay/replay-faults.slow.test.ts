import { afterAll, expect, inject, it } from 'vitest'
import { isFinal } from '../../../lib/core/execution.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import { executionKey } from '../../../lib/dynamodb/table/keys.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { seededRandom } from '../../support/data/random.ts'
import { readSeed } from '../../support/data/seed.ts'
import { httpTool, startToolServer } from '../../support/engine/model-agent.ts'
import { aMessage, answer, startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { contentOf, originalsOn, queueReplay, readRun } from '../../support/replay/a-replay.ts'
import { engineTable } from '../../support/tables/memory-table.ts'
import { type Fault, FaultyWorker, faultKindsOf } from '../../support/waiting/faulty-worker.ts'

/** All failures in the night. */
const SHARE = inject('isNightly') ? Number.POSITIVE_INFINITY : 20
const table = await engineTable()
const scripted = await startScriptedEngine()
const { engine } = scripted
let served = 0
const server = await startToolServer((_, response) => void response.end(`${++served}`))
afterAll(() => server.stop())
const { anOriginal } = originalsOn(scripted, { tools: [httpTool(server, 'look_up', '/things/{id}')] })

const look = (id: string) => ({ name: 'look_up', input: { id } })

it('a replay is the same however its workers die or are refused, and calls nothing', async () => {
  const script = [{ calls: [look('a'), look('b'), look('a')] }, { calls: [look('a'), look('a')] }, answer]
  const { original, version, steps } = await anOriginal(script)
  const calls = server.calls.length
  const expected = {
    ...{ status: 'SUCCESS', output: original.output, steps: 3, usage: { inputTokens: 0, outputTokens: 0 } },
    ...{ replayedUsage: original.usage, judgement: { verdict: 'SAME', differences: [] } },
  }

  /** Runs it to its end. Returns the requests of its workers. */
  async function run(fault: Fault | null): Promise<string[]> {
    const execution = await queueReplay(engine, original, version, { settings: { models: 'recorded' } })
    const requests: string[] = []
    for (let attempts = 1; attempts <= 5; attempts++) {
      const next = (method: string) => requests.push(method) - 1
      const worker = new FaultyWorker({ next, before: async () => undefined, faults: fault ? [fault] : [] })
      const on: Engine = { ...engine, ...openStores(worker.tableOf(table)), environment: {} }
      await processMessage(on, execution.id, aMessage(attempts)).catch(() => undefined)
      const found = await engine.executions.getSummary(execution)
      if (!found || isFinal(found)) break
      // Its lease has expired.
      if (found.lease)
        await table.update(executionKey(execution.id), { set: { leaseExpiresAt: Date.now() - 1 } })
    }
    const ended = await readRun(engine, execution)
    expect(ended.execution, JSON.stringify(fault)).toMatchObject(expected)
    expect(contentOf(ended.steps), JSON.stringify(fault)).toEqual(contentOf(steps))
    return requests
  }

  const requests = await run(null)
  expect(requests.length).toBeGreaterThan(10)
  const faults = requests.flatMap((method, at) => faultKindsOf(method).map((kind) => ({ at, kind })))
  for (const fault of seededRandom(readSeed(), 'replay').shuffle(faults).slice(0, SHARE)) await run(fault)
  expect(server.calls).toHaveLength(calls)
})
