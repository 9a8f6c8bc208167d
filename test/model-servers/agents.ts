import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { publishAgent } from '../../lib/agents/lifecycle/publish-agent.ts'
import { formatProblem, loadFolder } from '../../lib/agents/load-folder.ts'
import type { Version } from '../../lib/core/agent.ts'
import type { Execution } from '../../lib/core/execution.ts'
import type { JsonObject } from '../../lib/core/json/json.ts'
import type { RecordedStep } from '../../lib/core/step.ts'
import type { Engine } from '../../lib/engine/engine.ts'
import { buildRunRequest } from '../../lib/engine/submit/run-request.ts'
import { runInProcess } from '../../lib/engine/submit/submit.ts'
import type { Provider } from '../../lib/models/providers/providers.ts'
import { system } from '../../lib/system.ts'
import { engineOn } from '../support/engine/engine-on.ts'
import { sharedTable } from '../support/engine/organization.ts'

export type AgentFile = { frontMatter: JsonObject; instructions: string }

/** The wire formats that llama.cpp serves. The events of its Responses API lack members that OpenAI's always have. */
export type ServedFormat = Extract<Provider, 'openai-compatible' | 'anthropic'>

/** Publishes agents and runs them in this process on a model server. */
export function agentsOn(url: string, format: ServedFormat = 'openai-compatible') {
  const organizationId = system.newId()
  const engine: Engine = {
    ...engineOn(sharedTable()),
    environment: {
      OPENAI_COMPATIBLE_BASE_URL: url,
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'unused',
      DEFAULT_MODEL: `${format}/local`,
    },
  }

  return {
    /** The published version, or the problems for which the document is rejected. */
    async publish({ frontMatter, instructions }: AgentFile): Promise<Version | string[]> {
      const root = mkdtempSync(join(tmpdir(), 'aes-agent-'))
      try {
        const folder = join(root, 'agent')
        mkdirSync(folder)
        // JSON is YAML.
        const text = `---\n${JSON.stringify(frontMatter, null, 2)}\n---\n${instructions}\n`
        writeFileSync(join(folder, 'agent.md'), text)
        const { agent, problems } = await loadFolder(folder)
        if (!agent) return problems.map(formatProblem)
        const owner = { organizationId, createdBy: organizationId }
        const published = await publishAgent({ store: engine.agents, system, ...owner, agent, draft: false })
        return published.version
      } finally {
        rmSync(root, { recursive: true })
      }
    },

    async run(version: Version, input: JsonObject): Promise<{ execution: Execution; steps: RecordedStep[] }> {
      const execution = await runInProcess(engine, await buildRunRequest(version, input, {}))
      return { execution, steps: await engine.steps.read({ executionId: execution.id }) }
    },
  }
}
