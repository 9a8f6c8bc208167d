import { attemptId } from '../../lib/core/attempts.ts'
import { type Execution, isFinal } from '../../lib/core/execution.ts'
import type { Json } from '../../lib/core/json/json.ts'
import type { RecordedStep, Step } from '../../lib/core/step.ts'
import type { Wait } from '../../lib/core/wait.ts'
import type { Engine } from '../../lib/engine/engine.ts'
import { callKeyOf, childId } from '../../lib/engine/model-agent/call-key.ts'
import { approvalIdOf, approvalsOf } from '../../lib/engine/waiting/approvals.ts'

/** Something that a run, or an agent that it calls, waits for. */
export type OpenWait = Wait & {
  /** The executions that go on when it ends: the one that waits, and those that called it, up to the run. */
  executionIds: [string, ...string[]]
  /** Of an approval. */
  title: string | null
  /** What is to be approved. */
  data: Json
}

/**
 * What a suspended execution waits for. For those that wait for agents that they call: what these wait for. In the
 * order of steps and calls, which is the same in each run that does the same.
 */
export async function findOpenWaits(
  engine: Pick<Engine, 'executions' | 'steps'>,
  execution: Execution,
  callers: string[] = [],
): Promise<OpenWait[]> {
  const { id, organizationId, suspension } = execution
  if (!suspension) return []
  const executionIds: OpenWait['executionIds'] = [id, ...callers]
  const steps = await engine.steps.read({ executionId: id })
  const ordered = steps.flatMap(({ step }) => idsOf(execution, step))
  const positionOf = (wait: Wait) => ordered.indexOf(wait.id ?? String(wait.step))
  const waits = suspension.waits.toSorted((a, b) => positionOf(a) - positionOf(b))
  const found = waits.map(async (wait): Promise<OpenWait[]> => {
    if (wait.kind !== 'execution') return [{ ...wait, executionIds, ...describe(wait, steps) }]
    const child = wait.id && (await engine.executions.get({ organizationId, id: wait.id }))
    return child && !isFinal(child) ? findOpenWaits(engine, child, executionIds) : []
  })
  return (await Promise.all(found)).flat()
}

/** What identifies the waits that a step can have. */
function idsOf(execution: Execution, step: Step): string[] {
  if (step.kind === 'CODE' && step.agent)
    return [childId(execution, callKeyOf(execution, step, { id: attemptId(1) }))]
  if (step.kind !== 'MODEL')
    return [step.kind === 'WAIT' && step.wait.kind === 'approval' ? step.wait.id : String(step.number)]
  return step.calls.flatMap((call) => [
    approvalIdOf(step, call.id),
    childId(execution, callKeyOf(execution, step, call)),
  ])
}

const timeOf = ({ until }: OpenWait) => (until === null ? Number.POSITIVE_INFINITY : Date.parse(until))

/** The wait that time ends first; null if it ends none. */
export function nextInTime(open: OpenWait[]): OpenWait | null {
  const [next] = open.toSorted((a, b) => timeOf(a) - timeOf(b))
  return next && next.until !== null ? next : null
}

function describe({ id, step: number }: Wait, steps: RecordedStep[]): Pick<OpenWait, 'title' | 'data'> {
  const recorded = steps.find(({ step }) => step.number === number)
  const approval = recorded && approvalsOf(recorded).find((each) => each.id === id)
  return { title: approval?.title ?? null, data: approval?.input ?? null }
}
