import { describe, expect, it } from 'vitest'
import type { Usage } from '../../../lib/core/execution.ts'
import type { RecordedStep } from '../../../lib/core/step.ts'
import { executionKey } from '../../../lib/dynamodb/table/keys.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { system } from '../../../lib/system.ts'
import { aModelAgent, finalAnswer, httpTool } from '../../support/engine/model-agent.ts'
import { sharedTable } from '../../support/engine/organization.ts'
import { startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { runWorker } from '../../support/processes/worker-process.ts'
import type { Reply } from '../../support/scripted-model/turn.ts'

const STEPS = 5
/** The model is available for so many of them. */
const FIRST_STEPS = 2
/** As without a fallback, and one for the lost response. */
const WRITES = 1 + 1 + STEPS + (STEPS - 1) + 1 + 1
const KILL_AFTER = Array.from({ length: WRITES }, (_, i) => i + 1)

const MAX_TOKENS = 2_000
const LOST = { cut: { text: 'word '.repeat(500) }, chunks: 3, by: 'close' as const }

const table = sharedTable()
const { engine, queued, scriptModel, server } = await startScriptedEngine()
const { environment } = engine

/** A run with a budget and a small context. Its fallback loses its first response, and ends the run. */
async function queuedExecution() {
  const tag = system.newId()
  const respond = (stepsBefore: number): Reply =>
    stepsBefore === STEPS - 1
      ? { calls: [finalAnswer({ answer: 'Done.' })] }
      : { calls: [{ id: `a${stepsBefore}`, name: 'look', input: { id: String(stepsBefore) } }] }
  const stepsIn = (history: readonly { type: string }[]) =>
    history.filter(({ type }) => type === 'result').length
  const second = scriptModel(
    ({ history }, index) => (index === 0 ? LOST : respond(stepsIn(history))),
    'openai',
  )
  const version = await aModelAgent({
    tools: [httpTool(server, 'look', `/${tag}/{id}${'-long'.repeat(100)}`)],
    context: { window: 1_000, keep: 1 },
    fallbacks: [second.model],
  })
  const first = await queued(
    ({ history }) =>
      stepsIn(history) < FIRST_STEPS
        ? respond(stepsIn(history))
        : { status: 429, headers: { 'retry-after': '3600' } },
    version,
    { options: { maxTokens: MAX_TOKENS } },
  )
  return { ...first, second }
}

const tokensOf = ({ inputTokens, outputTokens }: Usage) => inputTokens + outputTokens

/** The provider of each step, and how many results its request had cleared. */
const partsOf = (recorded: RecordedStep[]) =>
  recorded.map(({ step }) =>
    step.kind === 'MODEL' ? [step.model?.split('/')[0], step.clearedResults ?? 0] : null,
  )

async function readRun(id: string, organizationId: string) {
  const execution = await engine.executions.get({ organizationId, id })
  if (!execution) throw new Error('The execution does not exist.')
  return { execution, parts: partsOf(await engine.steps.read({ executionId: id })) }
}

describe('a run with a budget, a fallback and a small context', async () => {
  const whole = await queuedExecution()
  const { report } = await runWorker(whole.execution.id, { environment })
  const expected = await readRun(whole.execution.id, whole.execution.organizationId)

  it('goes on with its fallback, counts the lost response and clears results', () => {
    expect(report).toEqual({ result: 'processed', writes: WRITES })
    const models = ['openai-compatible', 'openai-compatible', 'openai', 'openai', 'openai']
    expect(expected.parts.map((part) => part?.[0])).toEqual(models)
    expect(expected.parts.at(-1)?.[1]).toBeGreaterThan(0)
    expect(expected.execution).toMatchObject({ status: 'SUCCESS', lostUsage: { estimated: true } })
  })

  it.concurrent.each(KILL_AFTER)(
    'whose worker is killed after write %i has the same steps and holds its budget',
    async (killAfterWrites) => {
      const { execution, modelRequests, second } = await queuedExecution()
      const killed = await runWorker(execution.id, { killAfterWrites, environment })
      expect(killed.signal).toBe('SIGKILL')
      const stored = await engine.steps.read({ executionId: execution.id })
      const before = modelRequests()
      await table.update(executionKey(execution.id), { set: { leaseExpiresAt: Date.now() - 1 } })
      await processMessage(engine, execution.id)
      const { execution: ended, parts } = await readRun(execution.id, execution.organizationId)
      expect(ended).toMatchObject({ status: 'SUCCESS', output: { answer: 'Done.' }, steps: STEPS })
      expect(parts).toEqual(expected.parts)
      const [used, usedThen] = [tokensOf(ended.usage), tokensOf(expected.execution.usage)]
      // Estimates vary with the IDs in the requests, by far less than a lost response.
      expect(Math.abs(used - usedThen)).toBeLessThan(50)
      expect(used).toBeLessThanOrEqual(MAX_TOKENS)
      // Once the fallback has responded, nothing is requested from the first model.
      const isPast = stored.length > FIRST_STEPS
      expect(modelRequests() - before).toBe(isPast ? 0 : FIRST_STEPS - stored.length + 1)
      expect(second.requests.length).toBe(STEPS - FIRST_STEPS + 1)
    },
    120_000,
  )
})
