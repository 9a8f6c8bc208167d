import {
  type Execution,
  type LeasedExecution,
  type NewExecution,
  NO_USAGE,
  newExecution,
  type Progress,
} from '../../../lib/core/execution.ts'
import { system } from '../../../lib/system.ts'

export const NO_PROGRESS: Progress = { steps: 0, usage: NO_USAGE, model: null }

/** A new execution with random ids. */
export function anExecution(overrides: Partial<NewExecution> = {}): Execution {
  return newExecution({
    id: system.newId(),
    organizationId: system.newId(),
    agentId: system.newId(),
    versionId: system.newId(),
    tenantId: null,
    input: { text: 'x' },
    options: { maxAgentSteps: 100, model: null, useDynamicLearning: false },
    now: Date.now(),
    deadlineMs: 60_000,
    lease: null,
    ...overrides,
  })
}

/** The execution as returned to the worker that claims it. */
export const leased = (execution: Execution, owner: string): LeasedExecution => ({
  ...execution,
  lease: { owner, expiresAt: execution.lease?.expiresAt ?? Date.now() + 60_000 },
})
