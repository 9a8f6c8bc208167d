import { type ResolvedVersion, resolveVersion } from '../../agents/resolve-version.ts'
import type { Version } from '../../core/agent.ts'
import type { Budget } from '../../core/budget.ts'
import { ServiceError } from '../../core/errors.ts'
import type { Execution } from '../../core/execution.ts'
import type { ExecutionError } from '../../core/execution-errors.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { MAX_CHILDREN } from '../../core/limits.ts'
import type { InputFile, ToolResult } from '../../core/model.ts'
import { usageOfTree } from '../../core/model-usage.ts'
import type { RecordedStep } from '../../core/step.ts'
import { failed, ToolError } from '../../tools/tool.ts'
import { type Engine, traceparentFrom } from '../engine.ts'
import { callKeyOf, childId } from './call-key.ts'
import { readUsage } from './child-usage.ts'
import { passFiles, withFileNames } from './input-files.ts'
import { agentCallsOf, type RunBudget } from './run-budget.ts'
import { type Child, type RunAttempt, runChild } from './run-child.ts'

/** Maximum depth of agents that call each other. */
const MAX_DEPTH = 5

type AgentCall = { slug: string; input: JsonObject; idempotencyKey: string; signal: AbortSignal }

type Deps = {
  attempt: RunAttempt
  /** Null for a run without a limit. */
  budget: Pick<RunBudget, 'share'> | null
  /** When the parent or its worker has to stop. */
  endsAt: number
  /** Of the parent. */
  version: Version
  journal: { readonly recorded: RecordedStep[] }
  /** Of the parent's input: its model passes them by their path. */
  files: readonly InputFile[]
}

/** The organization's other agents, as tools of one execution. Each gets a share of its budget, if it has one. */
export function subAgents(
  engine: Engine,
  parent: Execution,
  { attempt, budget, endsAt, version: parentVersion, journal, files }: Deps,
) {
  const { organizationId, tenantId, id: executionId } = parent
  const { maxChildren = MAX_CHILDREN.default } = parentVersion.execution
  // All calls of an agent in a run get the same version of it.
  const run = { tenantId, executionId }
  const versionOf = (slug: string) =>
    resolveVersion({ store: engine.agents, organizationId, idOrSlug: slug, versionId: undefined, run })

  return {
    async describeAgent(slug: string) {
      const resolved = await versionOf(slug).catch((error: unknown) => {
        if (error instanceof ServiceError && error.status === 404) return null
        throw error
      })
      // An archived agent is described, too: a call of it is what fails, not a run in progress that resumes.
      if (!resolved) return null
      const { description, inputSchema } = resolved.version
      return { description, inputSchema: withFileNames(inputSchema, files) }
    },

    async runAgent({ slug, input, idempotencyKey, signal }: AgentCall): Promise<ToolResult> {
      const call = { ...(await versionOf(slug)), slug, idempotencyKey, signal, attempt, endsAt }
      const started = countChildren(parent, parentVersion, journal.recorded, idempotencyKey)
      const prepare = (version: Version) => passFiles(version, input, files)
      const share = () => budget?.share() ?? null
      return (await callAgent(engine, parent, { ...call, started, maxChildren, prepare, share })).result
    },
  }
}

type PreparedCall = Omit<AgentCall, 'input'> &
  Pick<Deps, 'attempt' | 'endsAt'> &
  Pick<Child, 'scored' | 'deadlineMs'> &
  Pick<ResolvedVersion, 'version' | 'selectedBy' | 'isArchived'> & {
    /** How many executions the run has started before, and may start. */
    started: number
    maxChildren: number
    prepare: (version: Version) => Promise<{ input: JsonObject } | { problem: string }>
    /** Null without a budget. */
    share: () => Budget | null
  }

/**
 * Runs another agent as an execution of its own, whose id derives from the call.
 * @returns the result, with what the execution has used; and its error, if there is one
 * @throws CallWaits if the execution is suspended, Unavailable, or the signal's reason when it aborts
 */
export async function callAgent(
  engine: Engine,
  parent: Execution,
  call: PreparedCall,
): Promise<{ result: ToolResult; error: ExecutionError | null }> {
  const { slug, version, selectedBy, isArchived, maxChildren, idempotencyKey, ...others } = call
  const { organizationId } = parent
  const refused = (error: string) => ({ result: failed(error), error: null })
  const callers = [...parent.callers, parent.agentId]
  if (callers.includes(version.agentId))
    return refused(
      `The agent ${slug} is already running above this call; agents must not call each other in a cycle.`,
    )
  if (callers.length >= MAX_DEPTH)
    return refused(`Agents may call each other at most ${MAX_DEPTH} levels deep.`)
  if (others.started >= maxChildren)
    return refused(
      `This run has started ${maxChildren} executions of other agents, which is its limit (execution.maxChildren).`,
    )
  const id = childId(parent, idempotencyKey)
  // A call that began before continues.
  if (isArchived && (await engine.executions.getStatus({ organizationId, id })) === null)
    return refused(`The agent ${slug} is archived.`)
  const prepared = await others.prepare(version)
  if ('problem' in prepared) return refused(prepared.problem)
  const { signal, endsAt, attempt, scored, deadlineMs } = others
  const { input } = prepared
  const traceparent = traceparentFrom(engine, parent, idempotencyKey)
  const started = { callers, input, traceparent, share: others.share() }
  const child = { id, version, selectedBy, ...started, signal, endsAt, scored, deadlineMs }
  const ended = await runChild(engine, parent, attempt, child).catch((error: unknown) => {
    // The timeout of the call. The execution counts all the same.
    if (error instanceof ToolError) return error
    throw error
  })
  const isInterrupted = ended instanceof ToolError
  const usage = isInterrupted ? await readUsage(engine, { organizationId, id }) : usageOfTree(ended)
  const recorded = { executionId: id, ...(usage && { usage }) }
  if (isInterrupted) return { result: { ...failed(ended.message), ...recorded }, error: null }
  if (ended.output) return { result: { ok: true, value: ended.output, ...recorded }, error: null }
  const reason = ended.error?.message ?? 'no reason was recorded'
  return { result: { ...failed(`The agent ${slug} failed: ${reason}`), ...recorded }, error: ended.error }
}

/**
 * The executions that calls before this one have started, or may still start. It derives from the journal, so that it
 * is the same for every worker: calls that ended without an execution do not count.
 */
function countChildren(parent: Execution, version: Version, recorded: RecordedStep[], key: string): number {
  let count = 0
  for (const { step, results } of recorded) {
    for (const call of agentCallsOf(step, version)) {
      if (callKeyOf(parent, step, call) === key) return count
      const ended = results.get(call.id)
      if (!ended || ended.result.executionId !== undefined) count++
    }
  }
  return count
}
