import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { LOCAL_TABLE } from '../../../local/emulators/provision.ts'
import { engineOn } from '../../support/engine/engine-on.ts'
import { aMessage, answer, lookup, startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { type Exchange, observe } from '../../support/proxy/observe.ts'
import { type HttpProxy, startProxy } from '../../support/proxy/start-proxy.ts'

const { engine: shared, aToolAgent, queued } = await startScriptedEngine()

const exchanges: Exchange[] = []
let proxy: HttpProxy
let engine: Engine

beforeAll(async () => {
  const exchanged = observe((exchange) => exchanges.push(exchange))
  proxy = await startProxy(inject('dynamodb'), exchanged)
  const table = openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: proxy.url })
  engine = { ...shared, ...engineOn(table) }
})
afterAll(() => proxy.stop())

/**
 * The writes of each step to the table: those between two model requests. Reads and renewals of the lease depend on how
 * long a step takes.
 */
async function costsOf(steps: number) {
  const starts: number[] = []
  const script = (_: unknown, index: number) => {
    starts.push(exchanges.length)
    return index === steps ? answer : lookup
  }
  const { execution, stored } = await queued(script, await aToolAgent())
  await processMessage(engine, execution.id)
  expect(await stored()).toMatchObject({ status: 'SUCCESS', steps: steps + 1 })
  return starts.slice(0, -1).map((start, index) => {
    const ofStep = exchanges
      .slice(start, starts[index + 1])
      .filter(({ operation }) => operation === 'PutItem')
    return {
      operations: ofStep.map(({ operation }) => operation),
      sent: ofStep.reduce((sum, { request }) => sum + request.length, 0),
      received: ofStep.reduce((sum, { response }) => sum + response.length, 0),
    }
  })
}

describe('a long run', () => {
  it('exchanges as many bytes with the table for its hundredth step as for its tenth', async () => {
    const costs = await costsOf(101)
    const [tenth, hundredth] = [costs[9], costs[99]]
    expect(tenth?.operations).toEqual(['PutItem', 'PutItem'])
    expect(hundredth?.operations).toEqual(tenth?.operations)
    // Some numbers have more digits: those of the step, of the tokens, and of the call's id, which occurs five times.
    expect(Math.abs((hundredth?.sent ?? 0) - (tenth?.sent ?? 0))).toBeLessThanOrEqual(20)
    expect(Math.abs((hundredth?.received ?? 0) - (tenth?.received ?? 0))).toBeLessThanOrEqual(20)
  })

  it('is read once by the worker that continues it', async () => {
    const [before, after] = [20, 20]
    const unavailable = { status: 503 }
    const isUnavailable = (index: number) => index >= before && index < before + 4
    const script = (_: unknown, index: number) =>
      isUnavailable(index) ? unavailable : index === before + 4 + after ? answer : lookup
    const { execution, stored } = await queued(script, await aToolAgent())
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
