import type { AgentRecord } from '../../lib/contract/records/agent.ts'
import type { ScheduleRecord } from '../../lib/contract/records/schedule.ts'
import { ApiError } from '../api/api-error.ts'
import { requestPages } from '../api/request.ts'

/** Agents that are asked at the same time: the service lists schedules by agent. */
export const PARALLEL = 4

/** Agents that are asked at first. */
export const ASKED = 200

export const schedulePath = (agent: string, name: string): string =>
  `/v1/agents/${encodeURIComponent(agent)}/schedules/${encodeURIComponent(name)}`

/** @throws ApiError */
async function listSchedules(agent: string, signal?: AbortSignal): Promise<ScheduleRecord[]> {
  const path = `/v1/agents/${encodeURIComponent(agent)}/schedules`
  return (await requestPages<ScheduleRecord>(path, { query: { limit: 100 }, signal })).items
}

/**
 * The schedules of some agents, a few requests at a time. One that was deleted meanwhile has none.
 * @param onProgress after each agent, with how many have been asked
 * @throws ApiError
 */
export async function listSchedulesOf(
  agents: Pick<AgentRecord, 'id'>[],
  { signal, onProgress }: { signal: AbortSignal; onProgress: (asked: number) => void },
): Promise<ScheduleRecord[]> {
  const found: ScheduleRecord[] = []
  const queue = agents.values()
  let asked = 0
  const work = async () => {
    for (const { id } of queue) {
      found.push(...(await listSchedules(id, signal).catch(ignoreMissing)))
      asked += 1
      if (!signal.aborted) onProgress(asked)
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, work))
  return found
}

function ignoreMissing(error: unknown): ScheduleRecord[] {
  if (error instanceof ApiError && error.status === 404) return []
  throw error
}
