import type { TestCase } from '../../authoring/cases/case-file.ts'
import type { CaseResult } from '../../authoring/cases/run-case.ts'
import { type Mode, runCases } from '../../authoring/cases/run-cases.ts'
import type { LoadedAgent } from '../../lib/agents/load-folder.ts'
import { ModelConfigurationError } from '../../lib/core/model.ts'
import { checkModel } from '../../lib/models/check-model.ts'
import { dataFolder } from '../../local/emulators/open-database.ts'
import { applyModelSettings } from '../../local/model-settings.ts'
import { UserError } from '../errors.ts'
import { withProgress } from '../output.ts'
import { withWorkbench } from './workbench.ts'

export type TestOptions = { mode: Mode; repeat: number; model: string | null; names: string[] }

/** Every case once, with the models of the agents. */
export const ALL_ONCE = { repeat: 1, model: null, names: [] } satisfies Partial<TestOptions>

/**
 * Runs the cases of an agent, or those with the given names.
 * @throws UserError for unknown names, and for a model that cannot be used
 */
export async function testCases(
  folder: string,
  agent: LoadedAgent,
  cases: TestCase[],
  { mode, repeat, model, names }: TestOptions,
): Promise<CaseResult[]> {
  const selected = selectCases(cases, names)
  if (mode !== 'replay') await applyModelSettings(dataFolder(), process.env)
  if (model !== null) checkOverride(agent, model, mode)
  const environment = process.env
  const running = withWorkbench(folder, agent, (stores, version) =>
    runCases({ folder, stores, version, cases, selected, mode, repeat, model, environment }),
  )
  return withProgress(`Running ${selected.length} cases`, running)
}

function selectCases(cases: TestCase[], names: string[]): TestCase[] {
  const known = new Map(cases.map((testCase) => [testCase.name, testCase]))
  const unknown = names.find((name) => !known.has(name))
  if (unknown === undefined)
    return names.length === 0 ? cases : cases.filter(({ name }) => names.includes(name))
  throw new UserError(
    `There is no case "${unknown}". The cases are: ${[...known.keys()].map((name) => `"${name}"`).join(', ')}.`,
  )
}

function checkOverride({ document }: LoadedAgent, model: string, mode: Mode): void {
  if (document.code)
    throw new UserError(`The agent ${document.slug} is a code agent; it does not accept a model.`)
  if (mode === 'replay') return
  try {
    checkModel(model, process.env)
  } catch (error) {
    throw error instanceof ModelConfigurationError ? new UserError(error.message) : error
  }
}
