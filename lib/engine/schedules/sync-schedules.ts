import type { Agent } from '../../core/agent.ts'
import { Unavailable } from '../../core/errors.ts'
import type { AgentStore } from '../../core/ports/agents.ts'
import type { ScheduleStore } from '../../core/ports/schedules.ts'
import { readPages } from '../../core/read-pages.ts'
import type { DeclaredSchedule, Schedule } from '../../core/schedule.ts'
import { isSameDefinition, toSchedule } from './define-schedule.ts'
import type { TimerParts } from './set-timer.ts'

type Stores = { agents: AgentStore; schedules: ScheduleStore } & TimerParts

/** While a process synchronizes the schedules of an agent, no other one does. */
const CLAIM_MS = 60_000
/** A write is in progress at most so long. */
const WRITE_MS = 20_000

/**
 * Makes the schedules of an agent those that its current version declares; others stay as they are. A promotion enters
 * the agent into the timers with the same write, and it leaves them only when this is done for the version that is then
 * current: whoever dies in between, the next one who looks at the schedules, or the timer, repeats it.
 * @returns false if another process does it
 */
export async function syncSchedules(stores: Stores, { id: agentId, ...agent }: Agent): Promise<boolean> {
  const { agents, system } = stores
  if (agent.syncAt === null) return true
  if (agent.syncAt > system.now()) return false
  for (let syncAt = agent.syncAt; ; ) {
    const until = system.now() + CLAIM_MS
    const claimed = await agents.claimSync({ agentId, syncAt, until })
    if (!claimed) return false
    await synchronize(stores, claimed, until)
    const versionId = claimed.current?.id ?? null
    if (await agents.finishSync({ agentId, syncAt: until, versionId })) return true
    // Another version has become current.
    syncAt = until
  }
}

/** The same for an agent that the timers list. */
export async function syncAgent(
  stores: Stores,
  { organizationId, agentId: id }: { organizationId: string; agentId: string },
): Promise<void> {
  const agent = await stores.agents.get({ organizationId, id })
  if (agent) await syncSchedules(stores, agent)
}

async function synchronize(stores: Stores, agent: Agent, until: number): Promise<void> {
  const { schedules, system } = stores
  const assertClaimed = () => {
    if (system.now() > until - WRITE_MS) throw new Unavailable(new Error('The claim has run out.'))
  }
  const declared = agent.current?.schedules ?? []
  const names = new Set(declared.map(({ name }) => name))
  const { organizationId, id: agentId } = agent
  const listed = readPages((page) => schedules.list({ organizationId, agentId, ...page }))
  const found = new Map<string, Schedule>()
  for await (const schedule of listed) found.set(schedule.name, schedule)
  // First, so that there is room for others.
  for (const schedule of found.values()) {
    if (!schedule.isDeclared || names.has(schedule.name)) continue
    assertClaimed()
    await schedules.delete({ ...schedule, onlyDeclared: true })
  }
  for (const each of declared) {
    assertClaimed()
    await declare(stores, agent, each, found.get(each.name) ?? null)
  }
}

/** A schedule that somebody has paused stays so; one that somebody has made, or taken over, is not changed. */
async function declare(
  stores: Stores,
  { organizationId, id: agentId }: Agent,
  { name, ...declared }: DeclaredSchedule,
  found: Schedule | null,
): Promise<void> {
  const { schedules } = stores
  const key = { organizationId, agentId, name }
  for (let replaces = found; ; replaces = await schedules.get(key)) {
    if (replaces && !replaces.isDeclared) return
    const definition = { ...declared, versionId: null, enabled: replaces?.enabled ?? true }
    if (replaces && isSameDefinition(replaces, definition)) return
    const schedule = await toSchedule({
      parts: stores,
      key,
      definition,
      replaces,
      isDeclared: true,
      tokenId: null,
    })
    // An agent that has as many as it may have keeps those.
    if ((await schedules.put({ schedule, replaces })) !== 'changed') return
  }
}
