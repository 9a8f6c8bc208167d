import type { Cluster } from '../cluster.ts'
import { isModelRun, type PlannedRun } from './planned-run.ts'
import { type Observation, requestRun } from './run-client.ts'

/** Concurrent runs. */
const CLIENTS = 32
/** Concurrent runs of the model agent: few, so that a kill repeats less than one model response on average. */
const MODEL_CLIENTS = 6
/** Concurrent runs that get faults of their own. */
const FAULTY_CLIENTS = 12

export type RunLoad = ReturnType<typeof startLoad>

/** Requests the runs from both services. */
export function startLoad(cluster: Cluster, runs: PlannedRun[], signal?: AbortSignal) {
  const errors: Record<string, number> = {}
  const regular = runs.filter(({ fault }) => fault === null)
  const problems: string[] = []
  const observations: Observation[] = []
  const aborting = new AbortController()
  const aborted = signal ? AbortSignal.any([signal, aborting.signal]) : aborting.signal
  const allAccepted = Promise.withResolvers<void>()
  let accepted = 0
  let lastExecutionId: string | undefined

  const work = async (queue: PlannedRun[]) => {
    for (let run = queue.shift(); run; run = queue.shift()) {
      const observation = await requestRun({
        run,
        clients: cluster.clients,
        count: (error) => {
          errors[error] = (errors[error] ?? 0) + 1
        },
        reportProblem: (problem) => problems.push(problem),
        onAccepted: (executionId) => {
          lastExecutionId = executionId ?? lastExecutionId
          // The others may take longer than the kills and the faults.
          if (run.fault === null) accepted++
          if (accepted === regular.length) allAccepted.resolve()
        },
        signal: aborted,
      })
      observations.push(observation)
    }
  }
  const workers = [
    [MODEL_CLIENTS, regular.filter(isModelRun)] as const,
    [CLIENTS - MODEL_CLIENTS, regular.filter((run) => !isModelRun(run))] as const,
    [FAULTY_CLIENTS, runs.filter(({ fault }) => fault !== null)] as const,
  ].flatMap(([clients, queue]) => Array.from({ length: clients }, () => work(queue)))
  const done = Promise.all(workers).then(() => observations)

  return {
    errors,
    problems,
    /** Every run has been accepted or aborted. */
    accepted: Promise.race([allAccepted.promise, done]),
    done,
    abort: () => aborting.abort(),
    /** How many runs were accepted, and how many are final. */
    count: () => accepted + observations.length,
    lastExecutionId: () => lastExecutionId,
    progress: () =>
      `${accepted} of ${regular.length} accepted, ${observations.length} final, ${cluster.kills().all} kills`,
  }
}
