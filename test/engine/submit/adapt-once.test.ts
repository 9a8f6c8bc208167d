import { beforeEach, describe, expect, it, vi } from 'vitest'
import { idempotencyStore } from '../../../lib/dynamodb/idempotency-store.ts'
import { buildRunRequest } from '../../../lib/engine/submit/run-request.ts'
import { runInProcess, submitAsync, submitSync } from '../../../lib/engine/submit/submit.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import type * as AdaptInput from '../../../lib/schema/adapt/adapt-input.ts'
import { engineOn } from '../../support/engine/engine-on.ts'
import { aModelAgent } from '../../support/engine/model-agent.ts'
import { sharedTable } from '../../support/engine/organization.ts'
import { aMessage } from '../../support/engine/scripted-engine.ts'

const { adapted } = vi.hoisted(() => ({ adapted: [] as unknown[] }))
vi.mock('../../../lib/schema/adapt/adapt-input.ts', async (load) => {
  const { compileAdapter } = await load<typeof AdaptInput>()
  const counting: typeof compileAdapter = (schema) => {
    const adapt = compileAdapter(schema)
    return (input) => {
      adapted.push(input)
      return adapt(input)
    }
  }
  return { compileAdapter: counting }
})
beforeEach(() => void adapted.splice(0))

const engine = {
  ...engineOn(sharedTable()),
  idempotency: idempotencyStore(sharedTable()),
  queue: aMessage().message.queue,
  admit: <T>(_: string, record: () => Promise<T>) => record(),
  syncDeadlineMs: 60_000,
}
const INPUT = { Question: 42 }

async function aRequest() {
  const code = 'export default ({ question }) => ({ answer: question })'
  return buildRunRequest(await aModelAgent({ code: true }, { code }), INPUT, {})
}

describe('an input is adapted once', () => {
  it.each([
    { by: 'a synchronous run', submit: submitSync.bind(null, engine) },
    { by: 'a run in this process', submit: runInProcess.bind(null, engine) },
  ])('by $by', async ({ submit }) => {
    const { status, input, output } = await submit(await aRequest())
    expect({ status, input, output }).toEqual({ status: 'SUCCESS', input: INPUT, output: { answer: '42' } })
    expect(adapted).toEqual([INPUT])
  })

  it('by the request, and again by the worker that runs it', async () => {
    const execution = await submitAsync(engine, await aRequest())
    await processMessage(engine, execution.id)
    expect((await engine.executions.get(execution))?.output).toEqual({ answer: '42' })
    expect(adapted).toEqual([INPUT, INPUT])
  })
})
