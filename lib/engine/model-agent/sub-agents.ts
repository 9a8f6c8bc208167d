import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { v7 } from 'uuid'
import { resolveVersion } from '../../agents/resolve-agent.ts'
import type { Version } from '../../core/agent.ts'
import { ServiceError } from '../../core/errors.ts'
import { CANCELLED, type Execution, isFinal, newExecution } from '../../core/execution.ts'
import type { JsonObject } from '../../core/json.ts'
import type { ToolResult } from '../../core/model.ts'
import { NEVER } from '../checkpoints/deadline.ts'
import { type Engine, timesOf } from '../engine.ts'
import { execute } from '../worker/execute.ts'

/** Agents that may call one another in a row. */
const MAX_DEPTH = 5
const POLL_MS = 250

type AgentCall = { slug: string; input: JsonObject; idempotencyKey: string; signal: AbortSignal }

/** Other agents of the organization as tools of one execution. */
export function agentCalls(engine: Engine, parent: Execution) {
  const { organizationId } = parent
  const versionOf = (slug: string) =>
    resolveVersion({ store: engine.agents, organizationId, idOrSlug: slug, versionId: undefined })

  return {
    async describeAgent(slug: string) {
      const version = await versionOf(slug).catch((error: unknown) => {
        if (error instanceof ServiceError && error.status === 404) return null
        throw error
      })
      return version && { description: version.description, inputSchema: version.inputSchema }
    },

    async runAgent({ slug, input, idempotencyKey, signal }: AgentCall): Promise<ToolResult> {
      const version = await versionOf(slug)
      const callers = [...parent.callers, parent.agentId]
      if (callers.includes(version.agentId)) {
        return {
          ok: false,
          error: `The agent ${slug} is already at work above this call: agents must not call in circles.`,
        }
      }
      if (callers.length >= MAX_DEPTH) {
        return { ok: false, error: `Agents may call one another ${MAX_DEPTH} deep, and no deeper.` }
      }
      const ended = await runChild(engine, parent, { version, callers, input, idempotencyKey, signal })
      if (ended.output) return { ok: true, value: ended.output }
      return {
        ok: false,
        error: `The agent ${slug} failed: ${ended.error?.message ?? 'no reason is recorded'}`,
      }
    },
  }
}

type Child = Omit<AgentCall, 'slug'> & { version: Version; callers: string[] }

/** The call as an execution of its own. Its id follows from the call's key: a resumed parent finds it again. */
async function runChild(engine: Engine, parent: Execution, child: Child): Promise<Execution> {
  const { executions, system } = engine
  const { version, callers, input, idempotencyKey, signal } = child
  const now = system.now()
  const lease = { owner: system.newId(), expiresAt: now + timesOf(engine).leaseMs }
  const execution = newExecution({
    id: childId(parent, idempotencyKey),
    organizationId: parent.organizationId,
    agentId: version.agentId,
    versionId: version.id,
    tenantId: parent.tenantId,
    input,
    options: { maxAgentSteps: version.execution.maxAgentSteps, model: null, useDynamicLearning: false },
    now,
    deadlineMs: Math.max(parent.deadlineAt - now, 0),
    lease,
    parent: { executionId: parent.id, callers },
  })
  const isNew = await executions.create({ execution })
  const held = isNew ? execution : await executions.claim({ id: execution.id, lease, now })
  const leave = { soon: NEVER, now: signal }
  const turn = typeof held === 'string' ? null : await execute(engine, held, version, { leave })
  if (signal.aborted) await endWithParent(engine, parent, execution)
  return turn?.kind === 'ended' ? turn.execution : untilFinal(engine, execution, signal)
}

/** A parent that was cancelled takes its calls with it; one that only lost its worker finds them again. */
async function endWithParent(
  { executions, system }: Engine,
  parent: Execution,
  { id }: Execution,
): Promise<void> {
  const { organizationId } = parent
  const current = await executions.get({ organizationId, id: parent.id })
  if (current && !isFinal(current)) return
  await executions.end({
    organizationId,
    id,
    error: CANCELLED,
    finishedAt: new Date(system.now()).toISOString(),
  })
}

async function untilFinal(
  { executions }: Engine,
  execution: Execution,
  signal: AbortSignal,
): Promise<Execution> {
  for (;;) {
    signal.throwIfAborted()
    const current = await executions.get(execution)
    if (!current || isFinal(current)) return current ?? execution
    await sleep(POLL_MS, undefined, { signal })
  }
}

/** A UUIDv7 of the parent's time whose random part is the key's hash. */
function childId(parent: Execution, key: string): string {
  const random = createHash('sha256').update(key).digest().subarray(0, 16)
  return v7({ msecs: Date.parse(parent.createdAt), random, seq: random.readUInt32BE(0) >>> 1 })
}
