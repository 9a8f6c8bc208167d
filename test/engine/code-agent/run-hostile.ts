import type { Version } from '../../../lib/core/agent.ts'
import type { Execution } from '../../../lib/core/execution.ts'
import type { Environment } from '../../../lib/environment.ts'
import { publishFixture } from '../../support/engine/organization.ts'
import { engine, run } from './replays.ts'

/** The version that tests share, with its warm threads. */
export const hostile = await publishFixture('hostile')

const ENVIRONMENT = { AGENT_MEMORY_MB: '64', TZ: 'UTC', SECRET_KEY: 'sk-of-the-shop' }

/** `text`: for the ways that need one. */
type Options = { text?: string; tenantId?: string; environment?: Environment }

/** Runs the agent `hostile` in this process, in a single attempt. Returns the execution as it ended. */
export function runHostile(
  version: Version,
  how: string,
  { text, tenantId = '', environment }: Options = {},
): Promise<Execution> {
  const input = { how, ...(text !== undefined && { text }) }
  const on = { ...engine, environment: { ...ENVIRONMENT, ...environment } }
  return run(version, { input, tenantId: tenantId || null }, on)
}

export const resultOf = async (...parameters: Parameters<typeof runHostile>) =>
  (await runHostile(...parameters)).output?.result
