import { RUN_FAULTS, type RunFault } from '../database/targeted-faults.ts'
import { FAILED_CALL, modelRun } from './model-runs.ts'
import { codeRun, EXHAUSTED, type PlannedRun, TIMED_AGENT } from './planned-run.ts'

/** Each fault of a single run occurs once for so many other runs. */
const RUNS_PER_FAULT = 400

/** The faults of the runs that the database treats badly, in addition to so many others. */
export const faultsFor = (runs: number): RunFault[] =>
  Array.from({ length: Math.ceil(runs / RUNS_PER_FAULT) }, () => RUN_FAULTS).flat()

/** A run that gets the fault, and how it must end. */
export function faultyRun(
  fault: RunFault,
  run: Pick<PlannedRun, 'index' | 'marker' | 'mode'>,
  log: string,
): PlannedRun {
  const { marker } = run
  const base = { ...run, isDeleted: false, useCache: false, errors: EXHAUSTED, fault }
  const looking = { ...base, ...modelRun('model', marker, 3, 1) }
  const failing = { ...looking, output: null }
  const delegating = (parallel: number) => ({ ...base, ...modelRun('delegating', marker, 2, parallel) })
  switch (fault) {
    case 'steps throttled':
      return failing
    case 'steps refused':
      return { ...failing, errors: [...EXHAUSTED, 'AgentFailed'] }
    case 'worker dies while it stores':
      // A synchronous run would be that of a gateway, whose requests have the same client as those of its runner.
      return { ...failing, mode: 'async' }
    case 'result throttled': {
      const code = codeRun({ marker, number: 1, steps: 0, pauseMs: 0, log }, null)
      const errors = [...EXHAUSTED, 'TimedOut']
      return { ...base, kind: 'instant', ...code, slug: TIMED_AGENT, output: null, errors }
    }
    case 'child not created at first':
    case 'first step of child throttled':
      return delegating(2)
    case 'steps of child throttled':
      // The run gets the failure of the agent as the result of its call.
      return { ...delegating(1), output: { marker, total: FAILED_CALL } }
    default:
      return looking
  }
}
