import { describe, expect, it } from 'vitest'
import { idempotencyStore } from '../../../lib/dynamodb/reservation-stores.ts'
import { submitAsync } from '../../../lib/engine/submit/accept.ts'
import { buildRunRequest, type RunRequest } from '../../../lib/engine/submit/run-request.ts'
import { runInProcess, submitSync } from '../../../lib/engine/submit/submit.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { engineOn } from '../../support/engine/engine-on.ts'
import { aModelAgent } from '../../support/engine/model-agent.ts'
import { sharedTable } from '../../support/engine/organization.ts'
import { aMessage } from '../../support/engine/scripted-engine.ts'

const engine = {
  ...engineOn(sharedTable()),
  idempotency: idempotencyStore(sharedTable()),
  queue: aMessage().queue,
  admit: <T>(_: string, record: () => Promise<T>) => record(),
  syncDeadlineMs: 60_000,
}
const INPUT = { Question: 42 }

async function aRequest() {
  const code = 'export default ({ question }) => ({ answer: question })'
  return buildRunRequest(await aModelAgent({ code: true }, { code }), INPUT, {})
}

describe('an input is adapted once', () => {
  it('by the request', async () => {
    expect((await aRequest()).adaptedInput).toEqual({ question: '42' })
  })

  it.each([
    {
      by: 'a synchronous run',
      submit: async (request: RunRequest) => (await submitSync(engine, request)).execution,
    },
    { by: 'a run in this process', submit: runInProcess.bind(null, engine) },
  ])('and not again by $by', async ({ submit }) => {
    const request = { ...(await aRequest()), adaptedInput: { question: 'as the request adapted it' } }
    const { status, input, output } = await submit(request)
    expect({ status, input }).toEqual({ status: 'SUCCESS', input: INPUT })
    expect(output).toEqual({ answer: 'as the request adapted it' })
  })

  it('in each process: a worker derives it from the record', async () => {
    const execution = await submitAsync(engine, {
      ...(await aRequest()),
      adaptedInput: { question: 'as the request adapted it' },
    })
    await processMessage(engine, execution.id)
    expect((await engine.executions.get(execution))?.output).toEqual({ answer: '42' })
  })
})
