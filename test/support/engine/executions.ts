import type { Version } from '../../../lib/core/agent.ts'
import type { Execution, LeasedExecution, Progress } from '../../../lib/core/execution.ts'
import type { Json } from '../../../lib/core/json/json.ts'
import { NO_USAGE } from '../../../lib/core/model-usage.ts'
import { type NewExecution, newExecution } from '../../../lib/core/new-execution.ts'
import type { RunOptions } from '../../../lib/core/run-options.ts'
import type { ModelStep } from '../../../lib/core/step.ts'
import { system } from '../../../lib/system.ts'

export const NO_PROGRESS: Progress = { steps: 0, usage: NO_USAGE, model: null }

export const runOptions = (overrides: Partial<RunOptions> = {}): RunOptions => ({
  maxAgentSteps: 100,
  model: null,
  useDynamicLearning: false,
  ...overrides,
})

/** A new execution with random ids. */
export function anExecution(overrides: Partial<NewExecution> = {}): Execution {
  return newExecution({
    id: system.newId(),
    organizationId: system.newId(),
    agentId: system.newId(),
    versionId: system.newId(),
    tenantId: null,
    input: { text: 'x' },
    options: runOptions(),
    now: Date.now(),
    deadlineMs: 60_000,
    lease: null,
    ...overrides,
  })
}

/** A new execution of the version. */
export const executionOf = (
  { organizationId, agentId, id: versionId }: Version,
  overrides: Partial<NewExecution> = {},
): Execution => anExecution({ organizationId, agentId, versionId, ...overrides })

/** A model response in a journal. */
export function modelStep(overrides: Partial<ModelStep> = {}): ModelStep {
  const at = new Date().toISOString()
  return {
    kind: 'MODEL',
    number: 1,
    startedAt: at,
    finishedAt: at,
    text: '',
    calls: [],
    messages: [],
    usage: NO_USAGE,
    stopReason: 'tool-calls',
    ...overrides,
  }
}

/** A call of a model response. */
export const toolCall = (id: string, name = 'look_up', input: Json = {}) => ({ id, name, input, error: null })

/** The execution as returned to the worker that claims it. */
export const leased = (execution: Execution, owner: string): LeasedExecution => ({
  ...execution,
  lease: { owner, expiresAt: execution.lease?.expiresAt ?? Date.now() + 60_000 },
})
