import type { TestCase } from '../../authoring/cases/case-file.ts'
import { type RunCasesParams, runCases } from '../../authoring/cases/run-cases.ts'
import { InvalidCallee, type NeededScorers, openWorkbench } from '../../authoring/workbench.ts'
import type { LoadedAgent } from '../../lib/agents/load-folder.ts'
import type { Version } from '../../lib/core/agent.ts'
import { agentIdOf } from '../../lib/core/ids.ts'
import type { Stores } from '../../lib/dynamodb/open-stores.ts'
import { applyModelSettings } from '../../local/data-folder.ts'
import { findModelProblem } from '../../local/load-agent.ts'
import { withOrganization } from '../connect.ts'
import { calleeError, UserError } from '../errors.ts'
import type { SharedOptions } from '../options.ts'
import { useAndClose, withProgress } from '../terminal.ts'
import { toReport } from './format-cases.ts'
import type { MatrixRow } from './model-matrix.ts'

/** `shared`: where a scorer is published that has no folder. */
type TestOptions = Pick<RunCasesParams, 'mode' | 'cases' | 'selected' | 'repeat'> & { shared: SharedOptions }

/**
 * Runs the selected cases of an agent on a table in memory, with one model after the other; null is that of the agent.
 * One of several models that cannot be used has a problem in place of results.
 * @throws UserError for a single model that cannot be used, and for an agent that has none
 */
export async function testModels(
  folder: string,
  agent: LoadedAgent,
  models: (string | null)[],
  { shared, ...options }: TestOptions,
): Promise<MatrixRow[]> {
  const { mode, selected } = options
  if (mode !== 'replay') await applyModelSettings()
  if (models.some((model) => model !== null)) assertHasModel(agent)
  const what = selected.length === 1 ? '1 case' : `${selected.length} cases`
  const work = async (stores: Stores, version: Version) => {
    const rows: MatrixRow[] = []
    for (const model of models) {
      const problem = model === null || mode === 'replay' ? null : findModelProblem(model, process.env)
      if (problem !== null && models.length === 1) throw new UserError(problem)
      const params = { ...options, folder, stores, version, model, environment: process.env }
      const running = () =>
        withProgress(`Running ${what}${model === null ? '' : ` with ${model}`}`, runCases(params))
      rows.push(problem === null ? { model, ...toReport(await running()) } : { model: model ?? '', problem })
    }
    return rows
  }
  return withWorkbench(folder, agent, work, scorersOf(selected, shared))
}

function assertHasModel({ document }: LoadedAgent): void {
  const kind = document.remote ? 'remote' : 'code'
  if (document.code || document.remote)
    throw new UserError(`The agent ${document.slug} is a ${kind} agent; it does not accept a model.`)
}

const scorersOf = (cases: TestCase[], options: SharedOptions): NeededScorers => ({
  slugs: [...new Set(cases.flatMap(({ expect }) => Object.keys(expect.scores ?? {})))],
  find: (slug) =>
    withOrganization(options, async ({ stores: { agents }, organization }) => {
      const id = agentIdOf(organization.id, slug)
      const version = (await agents.get({ organizationId: organization.id, id }))?.current
      return version ? { version, code: await agents.getCode({ agentId: id, versionId: version.id }) } : null
    }),
})

/**
 * Opens a table in memory with an agent for `work`.
 * @throws UserError if an agent that it calls, or that scores it, has problems
 */
export async function withWorkbench<T>(
  folder: string,
  agent: LoadedAgent,
  work: (stores: Stores, version: Version) => Promise<T>,
  scorers?: NeededScorers,
): Promise<T> {
  try {
    return await useAndClose(openWorkbench(folder, agent, scorers), ({ stores, version }) =>
      work(stores, version),
    )
  } catch (error) {
    throw error instanceof InvalidCallee ? calleeError(error.slug, error.problems) : error
  }
}
