import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { Version } from '../../../../lib/core/agent.ts'
import type { ExecutionStore } from '../../../../lib/core/ports/executions.ts'
import { executionStore } from '../../../../lib/dynamodb/executions/execution-store.ts'
import { openTable } from '../../../../lib/dynamodb/table/table.ts'
import { runInProcess } from '../../../../lib/engine/submit/submit.ts'
import { system } from '../../../../lib/system.ts'
import { LOCAL_TABLE } from '../../../../local/emulators/provision.ts'
import { runOptions } from '../../../support/engine/executions.ts'
import { aModelAgent, finalAnswer } from '../../../support/engine/model-agent.ts'
import { sharedTable } from '../../../support/engine/organization.ts'
import { startScriptedEngine } from '../../../support/engine/scripted-engine.ts'
import { pastExecutions } from '../../../support/learning/corrections.ts'
import { meterCapacity } from '../../../support/proxy/observe.ts'
import { startProxy } from '../../../support/proxy/start-proxy.ts'

const table = sharedTable()
const executions = executionStore(table)
const { engine, scriptModel } = await startScriptedEngine(table)
const { past } = pastExecutions(executions)
const answer = { calls: [finalAnswer({ answer: 'Done.' })] }

const meter = meterCapacity()
let proxy: Awaited<ReturnType<typeof startProxy>>
let metered: ExecutionStore

beforeAll(async () => {
  proxy = await startProxy(inject('dynamodb'), meter.behavior)
  metered = executionStore(openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: proxy.url }))
})
afterAll(() => proxy.stop())

describe('the read units of a run', () => {
  /** Rated executions with a vector each, and with as much text as an entry can have if they are large. */
  async function withLessons(count: number, isLarge: boolean) {
    const agent = await aModelAgent({}, { table })
    const vector = Int8Array.from({ length: 1_536 }, (_, i) => (i * 31) % 127)
    const words = isLarge ? 'parcel order '.repeat(100) : 'My parcel'
    for (let done = 0; done < count; done += 50)
      await Promise.all(
        Array.from({ length: Math.min(50, count - done) }, async (_, i) => {
          const question = `${done + i} ${words} did not arrive.`
          const { organizationId, id } = await past(agent, { question })
          const feedback = {
            rating: -1 as const,
            correctedOutput: { answer: 'Right.' },
            note: null,
            updatedAt: new Date().toISOString(),
          }
          const embedding = isLarge ? { model: 'openai/text-embedding-3-small', vector } : null
          await executions.giveFeedback({ organizationId, id, feedback, embedding, writer: system.newId() })
        }),
      )
    return agent
  }

  async function unitsOf(agent: Version) {
    const { model } = scriptModel([answer])
    const units = async (useDynamicLearning: boolean) => {
      const options = runOptions({
        model: useDynamicLearning ? model : scriptModel([answer]).model,
        useDynamicLearning,
      })
      meter.take()
      const request = { version: agent, input: { question: 'My parcel?' }, tenantId: null, options }
      const { error } = await runInProcess({ ...engine, executions: metered }, request)
      expect(error).toBeNull()
      return meter.take().readUnits
    }
    return (await units(true)) - (await units(false))
  }

  it.each([
    [500, false],
    [600, true],
  ])('with %i corrections (large: %j) are at most 300', async (count, isLarge) => {
    expect(await unitsOf(await withLessons(count, isLarge))).toBeLessThanOrEqual(300)
  })
})
