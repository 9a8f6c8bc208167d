import type { Version } from '../../../lib/core/agent.ts'
import type { Execution } from '../../../lib/core/execution.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { attempt } from '../../../lib/engine/worker/attempt.ts'
import type { Environment } from '../../../lib/environment.ts'
import { engineOn } from '../../support/engine/engine-on.ts'
import { executionOf, leased } from '../../support/engine/executions.ts'
import { sharedTable } from '../../support/engine/organization.ts'

const ENVIRONMENT = { AGENT_MEMORY_MB: '64', TZ: 'UTC', SECRET_KEY: 'sk-of-the-shop' }

type Options = {
  /** For the ways that need one. */
  text?: string
  tenantId?: string
  environment?: Environment
}

/** Runs the agent `hostile` in this process, in a single attempt. Returns the execution as it ended. */
export async function runHostile(
  version: Version,
  how: string,
  { text, tenantId, environment }: Options = {},
): Promise<Execution> {
  const engine: Engine = {
    ...engineOn(sharedTable()),
    environment: { ...ENVIRONMENT, ...environment },
  }
  const lease = { owner: 'this', expiresAt: Date.now() + 60_000 }
  const input = { how, ...(text !== undefined && { text }) }
  const execution = executionOf(version, { input, lease, tenantId: tenantId ?? null })
  await engine.executions.create({ execution })
  const result = await attempt(engine, leased(execution, lease.owner), { version })
  if (result.kind !== 'completed') throw new Error(`The attempt ended as ${result.kind}.`)
  return result.execution
}
