import { resolveVersion } from '../../agents/resolve-version.ts'
import { resolveVersionOf } from '../../agents/version-cache.ts'
import type { Version } from '../../core/agent.ts'
import { type Budget, toBudget, toOptions } from '../../core/budget.ts'
import { ServiceError } from '../../core/errors.ts'
import { CANCELLED, type Execution, type LeasedExecution, newExecution } from '../../core/execution.ts'
import type { JsonObject } from '../../core/json.ts'
import type { ToolResult } from '../../core/model.ts'
import { ToolError } from '../../tools/tool.ts'
import { NEVER, type WorkerDeadline } from '../checkpoints/deadline.ts'
import { endExecution } from '../end-execution.ts'
import { type Engine, timesOf } from '../engine.ts'
import { waitForCompletion } from '../wait-for-completion.ts'
import { childId } from './child-id.ts'
import type { RunBudget } from './run-budget.ts'

/** Maximum depth of agents that call each other. */
const MAX_DEPTH = 5

type AgentCall = { slug: string; input: JsonObject; idempotencyKey: string; signal: AbortSignal }

/** Runs a leased execution; passed in, because the worker that provides it is above this layer. */
export type RunAttempt = (
  engine: Engine,
  execution: LeasedExecution,
  version: Version,
  options: { deadline: WorkerDeadline },
) => Promise<{ kind: 'completed'; execution: Execution } | { kind: 'lost' | 'released' }>

/** The organization's other agents, as tools of one execution. Each gets a share of its budget, if it has one. */
export function subAgents(
  engine: Engine,
  parent: Execution,
  { attempt, budget }: { attempt: RunAttempt; budget: RunBudget | null },
) {
  const { organizationId } = parent
  const versionOf = (slug: string) =>
    resolveVersion({ store: engine.agents, organizationId, idOrSlug: slug, versionId: undefined })

  return {
    async describeAgent(slug: string) {
      const resolved = await versionOf(slug).catch((error: unknown) => {
        if (error instanceof ServiceError && error.status === 404) return null
        throw error
      })
      // An archived agent is described, too: a call of it is what fails, not a run in progress that resumes.
      return resolved && toDescription(resolved.version)
    },

    async runAgent({ slug, input, idempotencyKey, signal }: AgentCall): Promise<ToolResult> {
      const { version, isArchived } = await versionOf(slug)
      const callers = [...parent.callers, parent.agentId]
      if (callers.includes(version.agentId)) {
        return {
          ok: false,
          error: `The agent ${slug} is already running above this call; agents must not call each other in a cycle.`,
        }
      }
      if (callers.length >= MAX_DEPTH) {
        return { ok: false, error: `Agents may call each other at most ${MAX_DEPTH} levels deep.` }
      }
      const id = childId(parent, idempotencyKey)
      // A call that began before continues.
      if (isArchived && (await engine.executions.getStatus({ organizationId, id })) === null)
        return { ok: false, error: `The agent ${slug} is archived.` }
      const ended = await runChild(engine, parent, attempt, {
        id,
        version,
        callers,
        input,
        signal,
        share: (await budget?.share()) ?? null,
      })
      const executionId = ended.id
      if (ended.output) return { ok: true, value: ended.output, executionId }
      return {
        ok: false,
        executionId,
        error: `The agent ${slug} failed: ${ended.error?.message ?? 'no reason was recorded'}`,
      }
    },
  }
}

const toDescription = ({ description, inputSchema }: Version) => ({ description, inputSchema })

/** Its id derives from the call's key, so that a resumed parent finds it again. */
type Child = Pick<AgentCall, 'input' | 'signal'> & {
  id: string
  version: Version
  callers: string[]
  share: Budget | null
}

/** Runs the call as a separate execution. One that began before continues on its version. */
async function runChild(
  engine: Engine,
  parent: Execution,
  attempt: RunAttempt,
  child: Child,
): Promise<Execution> {
  const { executions, system } = engine
  const { id, version, callers, input, signal, share } = child
  const { organizationId } = parent
  const now = system.now()
  const lease = { owner: system.newId(), expiresAt: now + timesOf(engine).leaseMs }
  const execution = newExecution({
    id,
    organizationId,
    agentId: version.agentId,
    versionId: version.id,
    tenantId: parent.tenantId,
    input,
    options: {
      maxAgentSteps: version.execution.maxAgentSteps,
      model: null,
      useDynamicLearning: false,
      ...toOptions(toBudget(version.execution, share ?? {})),
    },
    now,
    deadlineMs: Math.max(parent.deadlineAt - now, 0),
    graceMs: timesOf(engine).graceMs,
    lease,
    parent: { executionId: parent.id, callers },
  })
  const isNew = await executions.create({ execution })
  const leased = isNew ? execution : await executions.claim({ id, lease, now })
  const begunOn =
    isNew || typeof leased === 'string' ? version : await resolveVersionOf(engine.agents, leased)
  const deadline = { drain: NEVER, stop: signal }
  try {
    const result =
      typeof leased === 'string' || !begunOn ? null : await attempt(engine, leased, begunOn, { deadline })
    if (result?.kind === 'completed') return result.execution
    const timeoutMs = Number.POSITIVE_INFINITY
    const completed = await waitForCompletion({ executions, organizationId, id, timeoutMs, signal })
    return completed === null || completed === 'IN_PROGRESS' ? execution : completed
  } finally {
    if (signal.aborted) await endWithCall(engine, parent, { id, signal })
  }
}

/**
 * A child ends with the call that created it: at the tool's timeout, and with its parent. If the parent only lost its
 * worker, the next one finds the child again.
 */
async function endWithCall(
  engine: Engine,
  parent: Execution,
  { id, signal }: { id: string; signal: AbortSignal },
): Promise<void> {
  const { organizationId } = parent
  const hasTimedOut = signal.reason instanceof ToolError
  const isParentOpen = async () =>
    (await engine.executions.getStatus({ organizationId, id: parent.id })) === 'IN_PROGRESS'
  if (!hasTimedOut && (await isParentOpen())) return
  await endExecution(engine, { organizationId, id, error: CANCELLED })
}
