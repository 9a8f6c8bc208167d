import { describe, expect, inject, it } from 'vitest'
import { toStepRecord } from '../../../lib/contract/records/step.ts'
import { executionKey } from '../../../lib/dynamodb/table/keys.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { system } from '../../../lib/system.ts'
import { aModelAgent, finalAnswer, httpTool } from '../../support/engine/model-agent.ts'
import { sharedTable } from '../../support/engine/organization.ts'
import { startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { runWorker } from '../../support/processes/worker-process.ts'

const STEPS = 5
/** The claim; for each step, the lease renewal and the step; two tool results for all but the last; the end. */
const WRITES = 1 + 1 + STEPS + 2 * (STEPS - 1) + 1
/** In `npm test`: after the first tool result, and after the end. */
const KILL_AFTER = inject('isNightly') ? Array.from({ length: WRITES }, (_, i) => i + 1) : [4, WRITES]

const table = sharedTable()
const { engine, queued, server } = await startScriptedEngine(table)
const { environment } = engine

/** How many results each request has cleared, whether or not a worker was killed. */
const CLEARED = [0, 0, 0, 4, 6]

/** A queued run of five steps with a budget and a small context. The model's responses depend only on the history. */
async function queuedExecution() {
  const tag = system.newId()
  const tools = ['left', 'right'].map((name) => httpTool(server, name, `/${tag}/${name}/{id}`))
  const version = await aModelAgent({ tools, context: { window: 950, keep: 1 } }, { table })
  const run = await queued(
    ({ history }) => {
      const stepsBefore = history.filter(({ type }) => type === 'result').length / 2
      const id = String(stepsBefore + 1)
      if (stepsBefore === STEPS - 1) return { calls: [finalAnswer({ answer: 'Done.' })] }
      const tools = Object.entries({ a: 'left', b: 'right' })
      return { calls: tools.map(([letter, name]) => ({ id: `${letter}${id}`, name, input: { id } })) }
    },
    version,
    { options: { maxTokens: 1_000_000 } },
  )
  return { ...run, toolCalls: () => server.calls.filter(({ path }) => path.startsWith(`/${tag}/`)) }
}

async function clearedIn(executionId: string): Promise<number[]> {
  const steps = await engine.steps.read({ executionId })
  return steps.map(({ step }) => (step.kind === 'MODEL' && step.clearedResults) || 0)
}

describe('a run of five steps', () => {
  it(`takes ${WRITES} writes when its worker is not killed`, async () => {
    const { execution, toolCalls, modelRequests } = await queuedExecution()
    const { code, report } = await runWorker(execution.id, { environment })
    expect([code, report]).toEqual([0, { result: 'processed', writes: WRITES }])
    expect(modelRequests()).toBe(STEPS)
    expect(toolCalls()).toHaveLength(2 * (STEPS - 1))
    expect(await clearedIn(execution.id)).toEqual(CLEARED)
  })

  it.concurrent.each(KILL_AFTER)(
    'whose worker is killed after write %i continues without repeating stored model requests and tool calls',
    async (killAfterWrites) => {
      const { execution, toolCalls, modelRequests } = await queuedExecution()
      const killed = await runWorker(execution.id, { killAfterWrites, environment })
      expect(killed.signal).toBe('SIGKILL')
      const stored = await engine.steps.read({ executionId: execution.id })
      const storedResults = stored.flatMap(({ results }) => [...results.keys()])
      const [requestsBefore, callsBefore] = [modelRequests(), toolCalls().length]

      const isCompleted = (await engine.executions.get(execution))?.status === 'SUCCESS'
      expect(isCompleted).toBe(killAfterWrites === WRITES)
      if (!isCompleted) {
        await table.update(executionKey(execution.id), { set: { leaseExpiresAt: Date.now() - 1 } })
        expect(await processMessage(engine, execution.id)).toBe('processed')
        expect(modelRequests() - requestsBefore).toBe(STEPS - stored.length)
        expect(toolCalls().length - callsBefore).toBe(2 * (STEPS - 1) - storedResults.length)
      }
      const completed = await engine.executions.get(execution)
      const steps = await engine.steps.read({ executionId: execution.id })
      const attempts = steps.map((recorded) => toStepRecord(recorded).attempt)
      expect(attempts).toEqual(Array.from({ length: STEPS }, (_, index) => (index < stored.length ? 1 : 2)))
      expect(completed).toMatchObject({ status: 'SUCCESS', output: { answer: 'Done.' }, steps: STEPS })
      expect(completed?.usage).toEqual({ inputTokens: 10 * STEPS, outputTokens: 5 * STEPS })
      expect(await clearedIn(execution.id)).toEqual(CLEARED)
      const idempotencyKeys = new Set(toolCalls().map(({ key }) => key))
      expect(idempotencyKeys.size).toBe(2 * (STEPS - 1))
    },
    120_000,
  )
})
