import { readFileSync } from 'node:fs'
import { attemptsAt } from '../../../../lib/core/attempts.ts'
import type { StepStore } from '../../../../lib/core/step.ts'
import { FLAKY_STEPS, STEP_RETRIES } from '../load/planned-run.ts'
import type { Observation } from '../load/run-client.ts'

type Params = {
  observations: Observation[]
  steps: Pick<StepStore, 'read'>
  /** What the agents have logged. */
  log: string
  /** Processes killed, and outages of the database: each may repeat the steps of a run that are in progress. */
  interruptions: number
}

/** Attempts at steps beyond those that were declared, and effects that were repeated without a reason. */
export async function verifyRetries({ observations, steps, log, interruptions }: Params): Promise<string[]> {
  const lines = readFileSync(log, 'utf8').trim().split('\n')
  const problems: string[] = []
  for (const { run, executionId, final } of observations) {
    if (run.kind !== 'flaky' || executionId === null || final?.status !== 'SUCCESS') continue
    const done = lines.filter((line) => line.startsWith(`${run.marker} `) && line.endsWith(' done'))
    const repeated = done.length - new Set(done).size
    if (repeated > interruptions * FLAKY_STEPS)
      problems.push(`${run.marker} repeated ${repeated} effects in ${interruptions} interruptions.`)
    if (run.isDeleted) continue
    const recorded = await steps.read({ executionId })
    if (recorded.length !== FLAKY_STEPS) problems.push(`${run.marker} has ${recorded.length} steps.`)
    for (const step of recorded) {
      const attempts = attemptsAt(step)
      const count = Math.max(attempts.length, 1)
      if (count > STEP_RETRIES + 1) problems.push(`${run.marker} made ${count} attempts at a step.`)
      const calls = lines.filter((line) => line.startsWith(`${run.marker} ${nameOf(step)} `)).length
      if (calls < count) problems.push(`${run.marker} made ${calls} of ${count} attempts at a step.`)
    }
  }
  return problems
}

const nameOf = ({ step }: { step: { kind: string; name?: string } }): string =>
  (step.name ?? '').replace('step-', '')
