import type { AgentRecord } from '../../lib/contract/records/agent.ts'
import type { ScheduleRecord } from '../../lib/contract/records/schedule.ts'
import { ApiError } from '../api/api-error.ts'
import { type Page, requestJson, requestPages } from '../api/request.ts'

/** Agents that are asked at the same time: the service lists schedules by agent. */
const PARALLEL = 4

/** Agents that are asked for a page of the list. */
export const AGENTS_PER_PAGE = 100

export const schedulePath = (agent: string, name: string): string =>
  `/v1/agents/${encodeURIComponent(agent)}/schedules/${encodeURIComponent(name)}`

/**
 * The schedules of some agents, a few requests at a time. One that was deleted meanwhile has none.
 * @param agent empty: all agents
 * @param next says how many agents were asked already
 * @throws ApiError
 */
export async function loadSchedules(
  agent: string,
  next: URLSearchParams | null,
  signal: AbortSignal,
): Promise<Page<ScheduleRecord>> {
  const skipped = Number(next?.get('skip') ?? 0)
  const agents = await findAgents(agent, signal)
  const asked = skipped + AGENTS_PER_PAGE
  const queue = agents.slice(skipped, asked).values()
  const items: ScheduleRecord[] = []
  const work = async () => {
    for (const { id } of queue) items.push(...(await listSchedules(id, signal).catch(ignoreMissing)))
  }
  await Promise.all(Array.from({ length: PARALLEL }, work))
  return { items, next: asked < agents.length ? new URLSearchParams({ skip: String(asked) }) : null }
}

async function findAgents(agent: string, signal: AbortSignal): Promise<Pick<AgentRecord, 'id'>[]> {
  if (agent !== '')
    return [await requestJson<AgentRecord>(`/v1/agents/${encodeURIComponent(agent)}`, { signal })]
  return (await requestPages<AgentRecord>('/v1/agents', { query: { limit: 100 }, signal })).items
}

async function listSchedules(agent: string, signal: AbortSignal): Promise<ScheduleRecord[]> {
  const path = `/v1/agents/${encodeURIComponent(agent)}/schedules`
  return (await requestPages<ScheduleRecord>(path, { query: { limit: 100 }, signal })).items
}

function ignoreMissing(error: unknown): ScheduleRecord[] {
  if (error instanceof ApiError && error.status === 404) return []
  throw error
}
