import { readCases, type TestCase } from '../../authoring/cases/case-file.ts'
import { runCase } from '../../authoring/cases/run-case.ts'
import { replaceDraft } from '../../authoring/dev-draft.ts'
import { typeCheck } from '../../authoring/type-check.ts'
import {
  type FolderProblem,
  findCodeFile,
  formatProblem,
  type LoadedAgent,
} from '../../lib/agents/load-folder.ts'
import type { Version } from '../../lib/core/agent.ts'
import { CANCELLED, type Execution } from '../../lib/core/execution.ts'
import type { Step } from '../../lib/core/step.ts'
import type { Stores } from '../../lib/dynamodb/open-stores.ts'
import { openTools } from '../../lib/tools/open-tools.ts'
import { loadAgent } from '../../local/publish/load-agent.ts'
import { withOrganization } from '../find.ts'
import type { SharedOptions } from '../options.ts'
import { trackExecution } from '../track-execution.ts'
import { formatResult, formatStep, formatToolResult } from './dev-output.ts'
import { formatWarnings } from './folder-problems.ts'

export type DevOptions = SharedOptions & { case?: string; model?: string; types: boolean }

type Params = {
  folder: string
  options: DevOptions
  /** Aborts when the next cycle is due. */
  signal: AbortSignal
  print: (text: string) => void
  /** The files that the agent consists of. */
  onSources: (sources: string[]) => void
}

/** Publishes a draft of the agent and runs the selected case on it. The types are checked meanwhile. */
export async function runDevCycle(params: Params): Promise<void> {
  const { folder, options, signal, print, onSources } = params
  const [{ agent, problems, warnings }, caseFile] = await Promise.all([
    loadAgent(folder, process.env),
    readCases(folder),
  ])
  printProblems([...problems, ...caseFile.problems], print)
  for (const line of formatWarnings(warnings)) print(line)
  if (!agent) return
  onSources(agent.sources)
  const checking = options.types ? checkTypes(folder, agent, params) : undefined
  const testCase = selectCase(caseFile.cases, options.case, print)
  await withOrganization(options, async (stores, { id: organizationId }) => {
    const { version, isNew } = await replaceDraft(stores, organizationId, agent)
    print(`${version.slug}: draft ${version.id}${isNew ? '' : ' (unchanged)'}`)
    if (testCase && !signal.aborted) await runSelected(stores, version, testCase, params)
  })
  await checking
}

function printProblems(problems: FolderProblem[], print: Params['print']): void {
  for (const problem of problems) print(formatProblem(problem))
}

/** In the background: it takes longer than everything else, and a draft may have wrong types. */
async function checkTypes(
  folder: string,
  { document }: LoadedAgent,
  { signal, print }: Params,
): Promise<void> {
  const codeFile = findCodeFile(folder)
  if (!codeFile) return
  const problems = await typeCheck({ codeFile, document, signal }).catch((error: unknown) => {
    if (signal.aborted) return []
    throw error
  })
  if (!signal.aborted) printProblems(problems, print)
}

/** The case with the given name, otherwise the first. */
function selectCase(
  cases: TestCase[],
  name: string | undefined,
  print: Params['print'],
): TestCase | undefined {
  const selected = cases.find((testCase) => name === undefined || testCase.name === name)
  if (!selected && name !== undefined) print(`There is no case "${name}" in cases.yaml.`)
  return selected
}

async function runSelected(
  stores: Stores,
  version: Version,
  testCase: TestCase,
  { options, signal, print }: Params,
): Promise<void> {
  print(`case "${testCase.name}"`)
  const tracked = trackExecution(stores, version.organizationId)
  const cancel = () => void tracked.end(CANCELLED).catch(() => undefined)
  signal.addEventListener('abort', cancel)
  try {
    const result = await runCase({
      stores: tracked.stores,
      version,
      testCase,
      model: options.model ?? null,
      environment: process.env,
      sources: { openTools: printingTools(print) },
      onLog: (text) => void process.stderr.write(text),
      onStep: (execution: Execution, step: Step) => print(formatStep(execution, step)),
    })
    if (!signal.aborted) print(formatResult(result))
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

const printingTools =
  (print: Params['print']): typeof openTools =>
  async (...params) => {
    const tools = await openTools(...params)
    return {
      ...tools,
      async call(call, options) {
        const result = await tools.call(call, options)
        print(formatToolResult(call, result))
        return result
      },
    }
  }
