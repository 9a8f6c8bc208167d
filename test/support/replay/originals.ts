import type { Version } from '../../../lib/core/agent.ts'
import type { NewExecution } from '../../../lib/core/execution.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { executionOf } from '../engine/executions.ts'
import { aModelAgent } from '../engine/model-agent.ts'
import { aMessage, type ScriptedEngine } from '../engine/scripted-engine.ts'
import type { Script } from '../scripted-model/turn.ts'
import { readModelSteps } from './a-replay.ts'

type Fields = Parameters<typeof aModelAgent>[0]
type Scripted = Pick<ScriptedEngine, 'engine' | 'scriptModel'>

/** Agents whose models follow scripts, and executions of them that can be repeated. */
export function originalsOn({ engine, scriptModel }: Scripted, defaults: Fields = {}) {
  /** A version whose model follows the script, unless it has one. */
  async function anAgent(script: Script, fields: Fields = {}) {
    const { model, requests } = scriptModel(script)
    return { version: await aModelAgent({ model, ...defaults, ...fields }), requests }
  }

  return {
    anAgent,

    /** An execution that has run to its end. */
    async anOriginal(script: Script, fields: Fields = {}, given: Partial<NewExecution> = {}) {
      const { version, requests } = await anAgent(script, fields)
      const execution = executionOf(version, { input: { question: 'Why?' }, ...given })
      await engine.executions.create({ execution })
      await processMessage(engine, execution.id, aMessage())
      const original = await engine.executions.get(execution)
      if (!original) throw new Error('The original does not exist.')
      return { version, original, steps: await readModelSteps(engine, original), requests }
    },

    /** Another version of the agent, whose model follows another script. */
    async aDraft({ organizationId, slug, agentId }: Version, script: Script, fields: Fields = {}) {
      const { version, requests } = await anAgent(script, { organizationId, slug, agentId, ...fields })
      return { draft: version, requests }
    },
  }
}
