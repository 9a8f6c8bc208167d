import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { openTable } from '../../../lib/dynamodb/table.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { LOCAL_TABLE } from '../../../local/emulators/provision.ts'
import { type Exchange, type FaultProxy, startFaultProxy } from '../../faults/fault-proxy.ts'
import { engineOn } from '../../support/engine.ts'
import { aMessage, answer, lookup, startWorkbench } from '../../support/workbench.ts'

const { engine: shared, aLookingAgent, waiting, stop } = await startWorkbench()

const exchanges: Exchange[] = []
let proxy: FaultProxy
let engine: Engine

beforeAll(async () => {
  proxy = await startFaultProxy({
    target: inject('dynamodb'),
    kind: 'dynamodb',
    seed: 1,
    rate: 0,
    onExchange: (exchange) => exchanges.push(exchange),
  })
  const table = openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: proxy.url })
  engine = { ...shared, ...engineOn(table) }
})
afterAll(async () => {
  await proxy.stop()
  await stop()
})

/** What a run asks of the table for each of its steps, from one question to the model to the next. */
async function costsOf(steps: number) {
  const asked: number[] = []
  const script = (_: unknown, index: number) => {
    asked.push(exchanges.length)
    return index === steps ? answer : lookup
  }
  const { execution, stored } = await waiting(script, await aLookingAgent())
  await processMessage(engine, execution.id)
  expect(await stored()).toMatchObject({ status: 'SUCCESS', steps: steps + 1 })
  return asked.slice(0, -1).map((start, index) => {
    const ofStep = exchanges.slice(start, asked[index + 1])
    return {
      operations: ofStep.map(({ operation }) => operation),
      sent: ofStep.reduce((sum, { request }) => sum + request.length, 0),
      received: ofStep.reduce((sum, { response }) => sum + response.length, 0),
    }
  })
}

describe('a long run', () => {
  it('sends as much to the table for its hundredth step as for its tenth: nothing of what it has written', async () => {
    const costs = await costsOf(101)
    const [tenth, hundredth] = [costs[9], costs[99]]
    expect(tenth?.operations).toEqual(['UpdateItem', 'PutItem', 'PutItem'])
    expect(hundredth?.operations).toEqual(tenth?.operations)
    // Numbers have a digit or two more: of the step, of the tokens, and of the call's id, which is there five times.
    expect(Math.abs((hundredth?.sent ?? 0) - (tenth?.sent ?? 0))).toBeLessThanOrEqual(20)
    expect(Math.abs((hundredth?.received ?? 0) - (tenth?.received ?? 0))).toBeLessThanOrEqual(20)
  })

  it('that another worker goes on with is read once', async () => {
    const [before, after] = [20, 20]
    const down = { status: 503 }
    const isDown = (index: number) => index >= before && index < before + 4
    const script = (_: unknown, index: number) =>
      isDown(index) ? down : index === before + 4 + after ? answer : lookup
    const { execution, stored } = await waiting(script, await aLookingAgent())
    await processMessage(engine, execution.id, aMessage())
    expect(await stored()).toMatchObject({ status: 'IN_PROGRESS', lease: null, steps: before })
    const start = exchanges.length
    await processMessage(engine, execution.id, aMessage())
    expect(await stored()).toMatchObject({ status: 'SUCCESS', steps: before + after + 1 })
    const operations = exchanges.slice(start).map(({ operation }) => operation)
    expect(operations.filter((operation) => operation === 'Query')).toHaveLength(1)
    expect(operations.filter((operation) => operation === 'PutItem')).toHaveLength(2 * after + 1)
  })
})
