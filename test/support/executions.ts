import { ambient } from '../../lib/ambient.ts'
import { type Execution, type NewExecution, newExecution } from '../../lib/core/execution.ts'

/** An accepted execution with everything random that must be; anything may be overridden. */
export function anExecution(overrides: Partial<NewExecution> = {}): Execution {
  return newExecution({
    id: ambient.newId(),
    organizationId: ambient.newId(),
    agentId: ambient.newId(),
    versionId: ambient.newId(),
    tenantId: null,
    input: { text: 'x' },
    options: { maxAgentSteps: 100, model: null, useDynamicLearning: false },
    now: Date.now(),
    deadlineMs: 60_000,
    lease: null,
    ...overrides,
  })
}
