import type { Version } from '../../../lib/core/agent.ts'
import type { Execution } from '../../../lib/core/execution.ts'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import type { QueuedExecution } from '../../../lib/core/ports.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { processDeadLetter } from '../../../lib/engine/maintenance/dead-letter.ts'
import { system } from '../../../lib/system.ts'
import { startScriptedModel } from '../scripted-model/start-scripted-model.ts'
import type { Script } from '../scripted-model/turn.ts'
import { engineOn } from './engine.ts'
import { anExecution } from './executions.ts'
import { aModelAgent, finalAnswer, httpTool, startToolServer } from './model-agent.ts'
import { sharedTable } from './organization.ts'

/** Model responses: a call of the tool of `aToolAgent`, and the final answer. */
export const lookup = { calls: [{ name: 'look_up', input: { id: 'x' } }] }
export const answer = { calls: [finalAnswer({ answer: 'Because.' })] }

/** A queue that records what is sent, and a message received from it. */
export function aMessage(receiveCount = 1) {
  const sent: (QueuedExecution & { delayMs?: number })[] = []
  const visibility: number[] = []
  const queue = { send: async (message: QueuedExecution & { delayMs?: number }) => void sent.push(message) }
  const changeVisibility = async (ms: number) => void visibility.push(ms)
  return { sent, visibility, message: { queue, receiveCount, changeVisibility } }
}

/** An engine on the shared table with a scripted model and a tool server, for tests that act as the runner. */
export async function startTestEngine() {
  const table = sharedTable()
  const scripted = await startScriptedModel()
  const server = await startToolServer((path, response) => void response.end(JSON.stringify({ path })))
  const engine: Engine = {
    ...engineOn(table),
    environment: scripted.environmentFor(),
    times: { ...leaseTimes(), retryDelayMs: 1 },
  }

  return {
    engine,

    aToolAgent: (overrides: Partial<Omit<Version, 'tools'>> = {}) =>
      aModelAgent({ tools: [httpTool(server, 'look_up', '/things/{id}')], ...overrides }),

    /** A queued execution of a model agent whose model follows the script. */
    async queued(script: Script, version?: Version) {
      const { organizationId, agentId, id: versionId } = version ?? (await aModelAgent())
      const model = system.newId()
      scripted.script(model, script)
      const options = {
        maxAgentSteps: 500,
        model: scripted.modelFor('openai-compatible', model),
        useDynamicLearning: false,
      }
      const input = { question: 'Why?' }
      const execution = anExecution({ organizationId, agentId, versionId, input, options })
      await engine.executions.create({ execution })
      const stored = async () => {
        const found = await engine.executions.get(execution)
        if (!found) throw new Error('The execution does not exist.')
        return found
      }
      return { execution, stored, modelRequests: () => scripted.requests(model).length }
    },

    /** Processes the execution's dead-lettered message. */
    deadLetter: ({ id, organizationId }: Execution, now = system.now) =>
      processDeadLetter({
        executions: engine.executions,
        steps: engine.steps,
        queue: aMessage().message.queue,
        system: { ...system, now },
        organizationId,
        id,
      }),

    async stop(): Promise<void> {
      await scripted.stop()
      await server.stop()
    },
  }
}
