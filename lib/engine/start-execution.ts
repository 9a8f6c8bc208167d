import type { Version } from '../core/agent.ts'
import { type Execution, newExecution, type RunOptions } from '../core/execution.ts'
import type { JsonObject } from '../core/json.ts'
import { DEADLINE_MS } from '../core/limits.ts'
import type { RunQueue } from '../core/ports.ts'
import { type Engine, execute } from './execute.ts'
import { DEFAULT_LEASE } from './lease-keeper.ts'

/** What a client asked for, checked. */
export type RunRequest = {
  version: Version
  input: JsonObject
  tenantId: string | null
  options: RunOptions
}

/** Records an execution and runs it here. Returns it as it ended, or as it is when this worker lost its lease. */
export async function runNow(engine: Engine, request: RunRequest): Promise<Execution> {
  const { executions, ambient, lease: times = DEFAULT_LEASE } = engine
  const lease = { owner: ambient.newId(), expiresAt: ambient.now() + times.leaseMs }
  const execution = record(engine, request, lease)
  await executions.create({ execution })
  const ended = await execute(engine, execution, request.version)
  return ended ?? (await executions.get(execution)) ?? execution
}

/** Records an execution and leaves it to the runner. Once recorded it is never lost: the sweeper enqueues it again. */
export async function runLater(engine: Engine, queue: RunQueue, request: RunRequest): Promise<Execution> {
  const execution = record(engine, request, null)
  await engine.executions.create({ execution })
  const { id: executionId, organizationId, tenantId } = execution
  await queue.send({ executionId, organizationId, tenantId }).catch(() => undefined)
  return execution
}

function record({ ambient }: Engine, request: RunRequest, lease: Execution['lease']): Execution {
  const { version, input, tenantId, options } = request
  return newExecution({
    id: ambient.newId(),
    organizationId: version.organizationId,
    agentId: version.agentId,
    versionId: version.id,
    tenantId,
    input,
    options,
    now: ambient.now(),
    deadlineMs: DEADLINE_MS,
    lease,
  })
}
