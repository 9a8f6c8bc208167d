import type { Json } from '../../lib/core/json/json.ts'
import { type RecordedStep, type StepStore, WAIT_RESULT } from '../../lib/core/step.ts'
import type { Decision } from '../../lib/core/wait.ts'
import { approvalIdOf, storedDecision } from '../../lib/engine/waiting/approvals.ts'
import type { CaseApproval, TestCase } from './case-file.ts'

type CaseAnswers = Pick<TestCase, 'approvals' | 'signals'>

/** The decisions and signals of a run, with those of agents that it called, as the keys of a case. */
export async function findRecordedAnswers(
  steps: Pick<StepStore, 'read'>,
  executionId: string,
): Promise<CaseAnswers> {
  const approvals: [string, CaseApproval][] = []
  const signals: [string, Json][] = []
  const read = async (id: string) => {
    for (const recorded of await steps.read({ executionId: id })) {
      approvals.push(...decisionsIn(recorded))
      signals.push(...signalIn(recorded))
      for (const { result } of recorded.results.values())
        if (result.ok && result.executionId) await read(result.executionId)
    }
  }
  await read(executionId)
  const listsOf = <T>(entries: [string, T][]): Record<string, T[]> =>
    Object.fromEntries(
      [...Map.groupBy(entries, ([name]) => name)].map(([name, all]) => [name, all.map(([, value]) => value)]),
    )
  const decisions = Object.entries(listsOf(approvals)).map(([name, [first, ...others]]) => [
    name,
    others.length > 0 ? [first, ...others] : first,
  ])
  return {
    ...(approvals.length > 0 && { approvals: Object.fromEntries(decisions) }),
    ...(signals.length > 0 && { signals: listsOf(signals) }),
  }
}

function decisionsIn({ step, results }: RecordedStep): [string, CaseApproval][] {
  const asked =
    step.kind === 'MODEL'
      ? step.calls.map((call) => ({ name: call.name, id: approvalIdOf(step, call.id) }))
      : step.kind === 'WAIT' && step.wait.kind === 'approval'
        ? [{ name: step.name, id: step.wait.id }]
        : []
  return asked.flatMap(({ name, id }): [string, CaseApproval][] => {
    const decision = storedDecision({ results }, id)
    return decision ? [[name, toApproval(decision)]] : []
  })
}

function toApproval({ decision, note, input }: Decision): CaseApproval {
  if (note === null && input === null) return decision
  return { decision, ...(note !== null && { note }), ...(input !== null && { input }) }
}

function signalIn({ step, results }: RecordedStep): [string, Json][] {
  const taken = results.get(WAIT_RESULT)
  if (step.kind !== 'WAIT' || step.wait.kind !== 'signal' || !taken?.signals?.taken) return []
  const value = taken.result.ok ? taken.result.value : null
  const { isAny, signals } = step.wait
  if (!isAny) return [[signals[0] ?? step.name, value]]
  const { signal, data } = value as { signal: string; data: Json }
  return [[signal, data]]
}
