import { type LeaseTimes, leaseTimes } from '../core/lease-times.ts'
import type { AgentStore, CacheStore, ExecutionStore, System } from '../core/ports.ts'
import type { StepStore } from '../core/step.ts'
import type { Environment } from '../environment.ts'

/** The dependencies of running an execution. */
export type Engine = {
  agents: AgentStore
  executions: ExecutionStore
  steps: StepStore
  cache: CacheStore
  system: System
  /** Names models, API keys and secrets; `process.env` by default. */
  environment?: Environment
  /** Tests shorten these. */
  times?: LeaseTimes
}

export const timesOf = ({ times = leaseTimes() }: Engine): LeaseTimes => times

export const isoNow = (system: System): string => new Date(system.now()).toISOString()
