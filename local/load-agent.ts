import { join, relative, resolve } from 'node:path'
import { START } from '../lib/agents/document/yaml-file.ts'
import {
  type FolderProblem,
  findCodeFile,
  type LoadedAgent,
  type LoadResult,
  loadFolder,
} from '../lib/agents/load-folder.ts'
import { DOCUMENT_FILE } from '../lib/core/agent.ts'
import { ModelConfigurationError } from '../lib/core/model.ts'
import { findLoadProblem } from '../lib/engine/code-agent/load-code.ts'
import { type Environment, readSetting } from '../lib/environment.ts'
import { checkModel } from '../lib/models/check-model.ts'
import { getSecretNames } from '../lib/secret-store.ts'

/** `warnings`: what keeps the agent from running in this environment, but may be different in another one. */
export type LoadedFolder = LoadResult & { warnings: FolderProblem[] }

/** Reads, checks and bundles the agent in a folder, and loads its code once. */
export async function loadAgent(folder: string, environment: Environment): Promise<LoadedFolder> {
  const loaded = await loadFolder(folder)
  const { agent } = loaded
  if (!agent) return { ...loaded, warnings: [] }
  const warnings = findUnset(folder, agent, environment)
  const found = await findCodeProblem(folder, agent, environment)
  if (found?.isFatal) return { agent: null, problems: [found.problem], warnings }
  return { agent, problems: [], warnings: found ? [...warnings, found.problem] : warnings }
}

async function findCodeProblem(
  folder: string,
  { code, document }: LoadedAgent,
  environment: Environment,
): Promise<{ problem: FolderProblem; isFatal: boolean } | null> {
  const codeFile = findCodeFile(folder)
  if (code === null || !codeFile) return null
  const problem = await findLoadProblem({ code, env: document.env, environment })
  if (!problem) return null
  const { file, line, column } = problem.at ?? { file: codeFile, ...START }
  const isFatal = problem.unset.length === 0
  const message = isFatal ? problem.message : `${problem.message} (unset: ${problem.unset.join(', ')})`
  return { problem: { file: toFile(resolve(folder, file)), line, column, field: null, message }, isFatal }
}

/** Secrets, variables and settings of models that the agent needs and the environment lacks. */
function findUnset(folder: string, { document, text }: LoadedAgent, environment: Environment) {
  const lines = text.split('\n')
  const warn = (needle: string | RegExp, field: string, message: string): FolderProblem => {
    const index = lines.findIndex((line) => line.search(needle) >= 0)
    const file = toFile(join(folder, DOCUMENT_FILE))
    return { file, line: Math.max(index, 0) + 1, column: 1, field, message }
  }
  const holders = [
    ...document.tools.map((tool) => ({ field: `tools.${tool.name}`, holder: tool })),
    { field: 'remote', holder: document.remote ?? {} },
  ]
  const references = holders.flatMap(({ field, holder }) =>
    getSecretNames(JSON.stringify(holder)).map((secret) => ({ field, secret })),
  )
  const secrets = Map.groupBy(references, ({ secret }) => secret)
  const modelProblem = document.code || document.remote ? null : findUnusable(document.model, environment)
  return [
    ...[...secrets]
      .filter(([secret]) => !environment[secret])
      .map(([secret, [first]]) => {
        const message = `the secret ${secret} is not set in this environment`
        return warn(new RegExp(`secret:${secret}\\b`), first?.field ?? '', message)
      }),
    ...document.env
      .filter((name) => !environment[name])
      .map((name) => warn(new RegExp(`\\b${name}\\b`), 'env', `${name} is not set in this environment`)),
    ...(modelProblem === null ? [] : [warn(/^model:/, 'model', modelProblem)]),
  ]
}

function findUnusable(model: LoadedAgent['document']['model'], environment: Environment): string | null {
  const name = (typeof model === 'object' ? model?.name : model) ?? readSetting('defaultModel', environment)
  if (!name) return `the document names no model, and DEFAULT_MODEL is not set in this environment`
  const fallbacks = (typeof model === 'object' && model?.fallbacks) || []
  const problems = [name, ...fallbacks].map((each) => findModelProblem(each, environment))
  return problems.find((problem) => problem !== null) ?? null
}

/** Why a model cannot be used in this environment. */
export function findModelProblem(name: string, environment: Environment): string | null {
  try {
    checkModel(name, environment)
    return null
  } catch (error) {
    if (!(error instanceof ModelConfigurationError)) throw error
    return error.message
  }
}

const toFile = (path: string) => relative(process.cwd(), resolve(path))
