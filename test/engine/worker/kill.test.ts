import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { executionStore } from '../../../lib/dynamodb/execution-store.ts'
import { executionKey } from '../../../lib/dynamodb/keys.ts'
import { stepStore } from '../../../lib/dynamodb/step-store.ts'
import { system } from '../../../lib/system.ts'
import { anExecution } from '../../support/executions.ts'
import {
  aModelAgent,
  finalAnswer,
  httpTool,
  startToolServer,
  type ToolServer,
} from '../../support/model-agent.ts'
import { sharedTable } from '../../support/organization.ts'
import { runInChildProcess as runIn } from '../../support/run-in-process.ts'
import { type ScriptedModel, startScriptedModel } from '../../support/scripted-model/start-scripted-model.ts'

const STEPS = 5
/** Claim; for each step the renewal and the step, and for all but the last two results; finish. */
const WRITES = 1 + 2 * STEPS + 2 * (STEPS - 1) + 1

const table = sharedTable()
const executions = executionStore(table)
const steps = stepStore(table)
let scripted: ScriptedModel
let server: ToolServer

beforeAll(async () => {
  scripted = await startScriptedModel()
  server = await startToolServer((path, response) => response.end(path))
})
afterAll(async () => {
  await scripted.stop()
  await server.stop()
})

const runInChildProcess = (id: string, killAfter: number) => runIn(id, killAfter, scripted.environmentFor())

/** A five-step run that waits for a worker; the script answers by what it is shown, as a model does. */
async function waitingExecution() {
  const name = system.newId()
  scripted.script(name, (request) => {
    const answered = request.history.filter(({ type }) => type === 'result').length / 2
    const id = String(answered + 1)
    if (answered === STEPS - 1) return { calls: [finalAnswer({ answer: 'Done.' })] }
    return {
      calls: [
        { id: `a${id}`, name: 'left', input: { id } },
        { id: `b${id}`, name: 'right', input: { id } },
      ],
    }
  })
  const version = await aModelAgent({
    model: scripted.modelFor('openai-compatible', name),
    tools: [httpTool(server, 'left', `/${name}/left/{id}`), httpTool(server, 'right', `/${name}/right/{id}`)],
  })
  const { organizationId, agentId, id: versionId } = version
  const execution = anExecution({ organizationId, agentId, versionId, input: { question: '?' } })
  await executions.create({ execution })
  const toolCalls = () => server.calls.filter(({ path }) => path.startsWith(`/${name}/`))
  return { execution, toolCalls, asked: () => scripted.requests(name).length }
}

describe('a run of five steps', () => {
  it(`takes ${WRITES} writes when nobody is killed`, async () => {
    const { execution, toolCalls, asked } = await waitingExecution()
    const { code, report } = await runInChildProcess(execution.id, 0)
    expect([code, report]).toEqual([0, { result: 'processed', writes: WRITES }])
    expect(asked()).toBe(STEPS)
    expect(toolCalls()).toHaveLength(2 * (STEPS - 1))
  })

  it.concurrent.each(Array.from({ length: WRITES }, (_, i) => i + 1))(
    'killed after write %i goes on in a new process, which asks and calls nothing again that is stored',
    async (killAfter) => {
      const { execution, toolCalls, asked } = await waitingExecution()
      const killed = await runInChildProcess(execution.id, killAfter)
      expect(killed.signal).toBe('SIGKILL')
      const stored = await steps.read({ executionId: execution.id })
      const storedCalls = stored.flatMap(({ results }) => [...results.keys()])
      const [askedBefore, calledBefore] = [asked(), toolCalls().length]

      const isEnded = (await executions.get(execution))?.status === 'SUCCESS'
      if (!isEnded) {
        await table.update(executionKey(execution.id), { set: { leaseExpiresAt: Date.now() - 1 } })
        expect((await runInChildProcess(execution.id, 0)).report.result).toBe('processed')
        expect(asked() - askedBefore).toBe(STEPS - stored.length)
        expect(toolCalls().length - calledBefore).toBe(2 * (STEPS - 1) - storedCalls.length)
      }
      const ended = await executions.get(execution)
      expect(ended).toMatchObject({ status: 'SUCCESS', output: { answer: 'Done.' }, steps: STEPS })
      expect(ended?.usage).toEqual({ inputTokens: 10 * STEPS, outputTokens: 5 * STEPS })
      const keys = new Set(toolCalls().map(({ key }) => key))
      expect(keys.size).toBe(2 * (STEPS - 1))
    },
    120_000,
  )
})
