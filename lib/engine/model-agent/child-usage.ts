import { resolveVersionOf } from '../../agents/resolve-version.ts'
import type { Execution } from '../../core/execution.ts'
import { addUsage, NO_USAGE, totalUsage, type Usage, usageOfTree } from '../../core/model-usage.ts'
import { type RecordedStep, stillLost } from '../../core/step.ts'
import type { Engine } from '../engine.ts'
import { callKeyOf, childId } from './call-key.ts'
import { agentCallsOf } from './run-budget.ts'

/**
 * What an execution that was interrupted has used, with the agents that it called; null if nothing. From the journals:
 * the records of agents that it was waiting for may lag behind.
 */
export async function readUsage(
  engine: Engine,
  key: Pick<Execution, 'organizationId' | 'id'>,
): Promise<Usage | null> {
  const execution = await engine.executions.get(key)
  if (!execution) return null
  const [version, recorded] = await Promise.all([
    resolveVersionOf(engine.agents, execution),
    engine.steps.read({ executionId: key.id }),
  ])
  const own = recorded.flatMap(({ step }) => (step.kind === 'MODEL' ? [step.usage] : []))
  const usage = own.length > 0 ? own.reduce(addUsage) : NO_USAGE
  const children: Usage[] = []
  for (const step of recorded) {
    for (const child of await readChildren(engine, execution, step, version)) children.push(child)
  }
  return usageOfTree({
    usage: totalUsage({
      ...execution,
      lostSteps: stillLost(execution.lostSteps, recorded),
      steps: own.length,
      usage,
    }),
    childUsage: children.length > 0 ? children.reduce(addUsage) : null,
  })
}

async function readChildren(
  engine: Engine,
  execution: Execution,
  { step, results }: RecordedStep,
  version: Awaited<ReturnType<typeof resolveVersionOf>>,
): Promise<Usage[]> {
  const { organizationId } = execution
  const found = agentCallsOf(step, version).map((call) => {
    const result = results.get(call.id)?.result
    if (result) return result.usage ?? null
    return readUsage(engine, { organizationId, id: childId(execution, callKeyOf(execution, step, call)) })
  })
  return (await Promise.all(found)).filter((usage) => usage !== null)
}
