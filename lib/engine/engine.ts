import { type LeaseTimes, leaseTimes } from '../core/lease-times.ts'
import type { AgentStore, CacheStore, ExecutionStore, System } from '../core/ports.ts'
import type { StepStore } from '../core/step.ts'
import type { Environment } from '../environment.ts'

/** What it takes to run executions. */
export type Engine = {
  agents: AgentStore
  executions: ExecutionStore
  steps: StepStore
  cache: CacheStore
  system: System
  /** Names models, keys and secrets. */
  environment?: Environment
  /** The defaults unless a test shortens them. */
  times?: LeaseTimes
}

export const timesOf = ({ times = leaseTimes() }: Engine): LeaseTimes => times
