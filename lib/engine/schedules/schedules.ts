import { setTimeout } from 'node:timers/promises'
import { mayUseAgent } from '../../access/permissions.ts'
import { resolveAgent } from '../../agents/resolve-agent.ts'
import type { Access } from '../../core/access.ts'
import type { Agent } from '../../core/agent.ts'
import { BY_NAME, type PageQuery, parsePage } from '../../core/cursor.ts'
import { ServiceError, Unavailable } from '../../core/errors.ts'
import { TooManySchedules } from '../../core/limit-errors.ts'
import type { AgentStore } from '../../core/ports/agents.ts'
import type { ScheduleStore } from '../../core/ports/schedules.ts'
import type { Page } from '../../core/ports/system.ts'
import { PayloadTooLarge } from '../../core/request-errors.ts'
import { AgentNotFound, ScheduleNotFound } from '../../core/resource-errors.ts'
import {
  MAX_SCHEDULE_INPUT_BYTES,
  MAX_SCHEDULES,
  SCHEDULE_NAME,
  SCHEDULE_NAME_RULE,
  type Schedule,
} from '../../core/schedule.ts'
import { checkSchedule } from './check-schedule.ts'
import { isSameDefinition, type ScheduleDefinition, toSchedule } from './define-schedule.ts'
import type { TimerParts } from './set-timer.ts'
import { syncSchedules } from './sync-schedules.ts'

export type ScheduleStores = { agents: AgentStore; schedules: ScheduleStore } & TimerParts

/** `agentId`: an ID or a slug. */
export type ScheduleReference = { access: Access; agentId: string; scheduleName: string }

/** Each attempt that fails met another change. */
const MAX_ATTEMPTS = 20

/** @throws AgentNotFound, InvalidCursor */
export async function listSchedules(
  stores: ScheduleStores,
  { access, agentId, query }: Pick<ScheduleReference, 'access' | 'agentId'> & { query: PageQuery },
): Promise<Page<Schedule>> {
  const page = parsePage(query, BY_NAME)
  const { organizationId, id } = await openAgent(stores, access, agentId)
  return stores.schedules.list({ organizationId, agentId: id, ...page })
}

/** @throws AgentNotFound, ScheduleNotFound */
export async function getSchedule(
  stores: ScheduleStores,
  { access, agentId, scheduleName: name }: ScheduleReference,
): Promise<Schedule> {
  const { organizationId, id } = await openAgent(stores, access, agentId)
  const schedule = SCHEDULE_NAME.test(name)
    ? await stores.schedules.get({ organizationId, agentId: id, name })
    : null
  if (!schedule) throw new ScheduleNotFound()
  return schedule
}

/**
 * Creates or replaces a schedule; its firings stay. One that the document declares is no longer the document's if
 * anything but `enabled` changes.
 * @throws AgentNotFound, TooManySchedules, PayloadTooLarge, ServiceError `BadRequest` for the name, and what
 * `checkSchedule` throws
 */
export async function putSchedule(
  stores: ScheduleStores,
  {
    access,
    agentId: idOrSlug,
    scheduleName: name,
    definition,
  }: ScheduleReference & { definition: ScheduleDefinition },
): Promise<{ schedule: Schedule; isNew: boolean }> {
  if (!SCHEDULE_NAME.test(name))
    throw new ServiceError('BadRequest', `The name of a schedule ${SCHEDULE_NAME_RULE}.`)
  if (Buffer.byteLength(JSON.stringify(definition.input)) > MAX_SCHEDULE_INPUT_BYTES)
    throw new PayloadTooLarge(`/input exceeds the limit of ${MAX_SCHEDULE_INPUT_BYTES} bytes of JSON.`)
  const { organizationId, id: agentId } = await openAgent(stores, access, idOrSlug)
  const key = { organizationId, agentId, name }
  await checkSchedule(stores, key, definition)
  for (let i = 0; i < MAX_ATTEMPTS; i++) {
    const replaces = await stores.schedules.get(key)
    if (replaces && isSameDefinition(replaces, definition)) return { schedule: replaces, isNew: false }
    const schedule = await toSchedule({
      parts: stores,
      key,
      definition,
      replaces,
      isDeclared:
        replaces?.isDeclared === true &&
        isSameDefinition({ ...replaces, enabled: definition.enabled }, definition),
      tokenId: access.tokenId || null,
    })
    const stored = await stores.schedules.put({ schedule, replaces })
    if (stored === 'full') throw new TooManySchedules(MAX_SCHEDULES)
    if (stored !== 'changed') return { schedule: stored, isNew: replaces === null }
  }
  throw new Unavailable(new Error('The schedule was changed by many requests at the same time.'))
}

/** @throws AgentNotFound, ScheduleNotFound */
export async function deleteSchedule(stores: ScheduleStores, reference: ScheduleReference): Promise<void> {
  const schedule = await getSchedule(stores, reference)
  if (!(await stores.schedules.delete(schedule))) throw new ScheduleNotFound()
}

/** A process that synchronizes the schedules needs a moment. One that has died keeps its claim for longer. */
const SYNC_WAITS = 20
const SYNC_WAIT_MS = 100

/** The agent, whose schedules are those that its current version declares, and others. @throws AgentNotFound */
async function openAgent(stores: ScheduleStores, access: Access, idOrSlug: string): Promise<Agent> {
  if (!mayUseAgent(access, idOrSlug)) throw new AgentNotFound()
  const reference = { store: stores.agents, organizationId: access.organizationId, idOrSlug }
  for (let waits = 0; ; waits++) {
    const agent = await resolveAgent(reference)
    if ((await syncSchedules(stores, agent)) || waits === SYNC_WAITS) return agent
    await setTimeout(SYNC_WAIT_MS)
  }
}
