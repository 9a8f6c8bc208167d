import type { Version } from '../../../lib/core/agent.ts'
import type { Execution } from '../../../lib/core/execution.ts'
import type { NewExecution } from '../../../lib/core/new-execution.ts'
import type { Step } from '../../../lib/core/step.ts'
import { LIVE, type Replay } from '../../../lib/core/trial.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { attempt } from '../../../lib/engine/worker/attempt.ts'
import { system } from '../../../lib/system.ts'
import { engineOn } from '../../support/engine/engine-on.ts'
import { executionOf, leased } from '../../support/engine/executions.ts'
import { aModelAgent } from '../../support/engine/model-agent.ts'
import { engineTable } from '../../support/tables/memory-table.ts'

export const engine = engineOn(await engineTable())

/** A code agent with this body of `run(input, context)`, or another version of the agent `of`. */
export function anAgent(
  body: string,
  { head = '', of, ...overrides }: { head?: string; of?: Version } & Partial<Omit<Version, 'tools'>> = {},
): Promise<Version> {
  const code = `${head}\nexport default async (input, context) => { ${body} }`
  const { organizationId, slug } = of ?? { organizationId: system.newId(), slug: `replay-${system.newId()}` }
  const outputSchema = { type: 'object' }
  return aModelAgent({ code: true, outputSchema, organizationId, slug, ...overrides }, { code })
}

/** What makes a new execution a replay of this one: by default with recorded steps. */
export const replayOf = (
  { id, input, tenantId }: Execution,
  settings: Partial<Replay> = {},
): Partial<NewExecution> & { replay: Replay } => ({
  input,
  tenantId,
  replay: {
    ...LIVE,
    tools: { default: 'recorded' },
    steps: 'recorded',
    executionId: id,
    fromStep: 1,
    isTrial: true,
    defaultModel: null,
    ...settings,
  },
})

/** Runs an execution of the version in this process, in a single attempt. Returns the execution as it ended. */
export async function run(
  version: Version,
  overrides: Partial<NewExecution> = {},
  on: Engine = engine,
): Promise<Execution> {
  const lease = { owner: system.newId(), expiresAt: Date.now() + 60_000 }
  const execution = executionOf(version, { input: { question: 'Why?' }, ...overrides, lease })
  await on.executions.create({ execution })
  const result = await attempt(on, leased(execution, lease.owner), { version })
  if (result.kind !== 'completed') throw new Error(`The attempt ended as ${result.kind}.`)
  return result.execution
}

/** The journal without what differs between two runs. */
export async function stepsOf({ id }: Execution): Promise<Partial<Step>[]> {
  const recorded = await engine.steps.read({ executionId: id })
  return recorded.map(({ step: { startedAt, finishedAt, ...step } }) => step)
}
