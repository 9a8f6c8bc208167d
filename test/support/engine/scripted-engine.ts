import { afterAll } from 'vitest'
import type { Version } from '../../../lib/core/agent.ts'
import type { Execution } from '../../../lib/core/execution.ts'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import type { NewExecution } from '../../../lib/core/new-execution.ts'
import type { QueuedExecution } from '../../../lib/core/ports/queues.ts'
import type { RunOptions } from '../../../lib/core/run-options.ts'
import type { Table } from '../../../lib/dynamodb/table/table.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { processDeadLetter } from '../../../lib/engine/maintenance.ts'
import { runInProcess } from '../../../lib/engine/submit/submit.ts'
import type { Reasoning } from '../../../lib/models/providers/provider-traits.ts'
import type { Provider } from '../../../lib/models/providers/providers.ts'
import { system } from '../../../lib/system.ts'
import { startScriptedModel } from '../scripted-model/start-scripted-model.ts'
import type { Script } from '../scripted-model/turn.ts'
import { engineTable } from '../tables/memory-table.ts'
import { engineOn } from './engine-on.ts'
import { executionOf, runOptions } from './executions.ts'
import { aModelAgent, finalAnswer, httpTool, startToolServer } from './model-agent.ts'

/** Model responses: a call of the tool of `aToolAgent`, and the final answer. */
export const lookup = { calls: [{ name: 'look_up', input: { id: 'x' } }] }
export const answer = { calls: [finalAnswer({ answer: 'Because.' })] }

const input = { question: 'Why?' }

type Sent = QueuedExecution & { delayMs?: number }

/** What the engines of this file send since the last `aMessage`. */
let received: Sent[] = []
const recordingQueue = { send: async (message: Sent) => void received.push(message) }

/** A received message, and what is sent from now on. */
export function aMessage(receiveCount = 1) {
  const sent: Sent[] = []
  received = sent
  const visibility: number[] = []
  const changeVisibility = async (ms: number) => void visibility.push(ms)
  return { sent, visibility, queue: recordingQueue, message: { receiveCount, changeVisibility } }
}

type Run = Partial<RunOptions> & {
  version: Version
  provider?: Provider
  /** The beginning of the model's id. */
  family?: string
  reasoning?: Reasoning
  /** The engine to run on instead of the file's own. */
  on?: Engine
}

type Queued = Partial<Omit<NewExecution, 'options'>> & {
  options?: Partial<RunOptions>
  provider?: Provider
}

export type ScriptedEngine = Awaited<ReturnType<typeof startScriptedEngine>>

/**
 * For a test file: an engine on the table, by default that of the worker, with a scripted model and a tool server that
 * stop at its end.
 */
export async function startScriptedEngine(given?: Table) {
  const table = given ?? (await engineTable())
  const scripted = await startScriptedModel()
  /** Returns the requested path. */
  const server = await startToolServer((path, response) => void response.end(JSON.stringify({ path })))
  afterAll(async () => {
    await scripted.stop()
    await server.stop()
  })
  const engine = {
    ...engineOn(table),
    queue: recordingQueue,
    environment: scripted.environmentFor(),
    times: { ...leaseTimes(), retryDelayMs: 1, retryWindowMs: 1_500 },
  } satisfies Engine

  /** A new model that follows the script, in the provider's format. */
  function scriptModel(
    script: Script,
    provider: Provider = 'openai-compatible',
    { family, reasoning }: { family?: string | undefined; reasoning?: Reasoning | undefined } = {},
  ) {
    const name = [family, system.newId()].filter(Boolean).join('-')
    scripted.script(name, script)
    return {
      model: scripted.modelFor(provider, name, reasoning),
      requests: scripted.requests(name),
      done: () => scripted.assertDone(name),
    }
  }

  return {
    engine,
    scripted,
    server,
    scriptModel,

    /** An agent with the HTTP tool `look_up`. */
    aToolAgent: (overrides: Parameters<typeof aModelAgent>[0] = {}) =>
      aModelAgent({ tools: [httpTool(server, 'look_up', '/things/{id}')], ...overrides }, { table }),

    /** Runs an agent in this process on a new script, in the provider's format. */
    async runScript(script: Script, { version, provider, family, reasoning, on = engine, ...given }: Run) {
      const { model, ...scriptedModel } = scriptModel(script, provider, { family, reasoning })
      const request = { version, input, tenantId: null, options: runOptions({ model, ...given }) }
      const execution = await runInProcess(on, request)
      const steps = await engine.steps.read({ executionId: execution.id })
      return { execution, steps, ...scriptedModel }
    },

    /** A queued execution of a model agent whose model follows the script, for tests that act as the runner. */
    async queued(script: Script, version?: Version, { options, provider, ...given }: Queued = {}) {
      const { model, requests } = scriptModel(script, provider)
      const execution = executionOf(version ?? (await aModelAgent({}, { table })), {
        input,
        options: runOptions({ maxAgentSteps: 500, model, ...options }),
        ...given,
      })
      await engine.executions.create({ execution })
      const stored = async () => {
        const found = await engine.executions.get(execution)
        if (!found) throw new Error('The execution does not exist.')
        return found
      }
      return { execution, stored, requests, modelRequests: () => requests.length }
    },

    /** Processes the execution's dead-lettered message. */
    deadLetter: ({ id, organizationId }: Execution, now = system.now) =>
      processDeadLetter({
        executions: engine.executions,
        steps: engine.steps,
        queue: aMessage().queue,
        system: { ...system, now },
        organizationId,
        id,
      }),
  }
}
