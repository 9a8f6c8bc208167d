import { afterAll, beforeAll } from 'vitest'
import type { Version } from '../../../lib/core/agent.ts'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { runInProcess } from '../../../lib/engine/submit/submit.ts'
import type { Provider, Reasoning } from '../../../lib/models/model-name.ts'
import { system } from '../../../lib/system.ts'
import { type ScriptedModel, startScriptedModel } from '../scripted-model/start-scripted-model.ts'
import type { Script } from '../scripted-model/turn.ts'
import { engineOn } from './engine.ts'
import { aModelAgent, httpTool, startToolServer, type ToolServer } from './model-agent.ts'
import { sharedTable } from './organization.ts'

type Options = {
  version: Version
  provider?: Provider
  reasoning?: Reasoning
  maxAgentSteps?: number
}

/** An engine on the shared table whose models are scripted. Set before the first test of a file. */
export function useScriptedRuns() {
  const holder = {} as { scripted: ScriptedModel; engine: Engine }
  beforeAll(async () => {
    holder.scripted = await startScriptedModel()
    const engine = engineOn(sharedTable())
    const times = { ...leaseTimes(), retryDelayMs: 1 }
    holder.engine = { ...engine, environment: holder.scripted.environmentFor(), times }
  })
  afterAll(() => holder.scripted?.stop())

  /** Runs an agent on a new script, in the provider's format. */
  async function runScript(
    script: Script,
    { version, provider = 'openai-compatible', reasoning, maxAgentSteps = 100 }: Options,
  ) {
    const { scripted, engine } = holder
    const name = system.newId()
    scripted.script(name, script)
    const execution = await runInProcess(engine, {
      version,
      input: { question: 'Why?' },
      tenantId: null,
      options: {
        maxAgentSteps,
        model: scripted.modelFor(provider, name, reasoning),
        useDynamicLearning: false,
      },
    })
    const steps = await engine.steps.read({ executionId: execution.id })
    return { execution, steps, requests: scripted.requests(name), done: () => scripted.assertDone(name) }
  }

  return { holder, runScript }
}

/** Agents with the HTTP tool `look_up`, which returns the requested path. `holder.server` is set before the first test of a file. */
export function useToolAgents() {
  const holder = {} as { server: ToolServer }
  beforeAll(async () => {
    holder.server = await startToolServer((path, response) => void response.end(JSON.stringify({ path })))
  })
  afterAll(() => holder.server?.stop())

  const aToolAgent = (overrides: Partial<Omit<Version, 'tools'>> = {}) =>
    aModelAgent({ ...overrides, tools: [httpTool(holder.server, 'look_up', '/things/{id}')] })

  return { holder, aToolAgent }
}
