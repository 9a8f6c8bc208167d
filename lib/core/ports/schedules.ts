import type { Schedule } from '../schedule.ts'
import type { Page, PageRequest } from './system.ts'

export type ScheduleId = Pick<Schedule, 'organizationId' | 'agentId' | 'name'>

export interface ScheduleStore {
  /**
   * Writes all of a schedule, and enters it into the timers if it has a time. `replaces`: the one that was read; null:
   * there is none. Returns it with its revision. `changed`: the stored one is another one by now; `full`: it is new,
   * and the agent has `MAX_SCHEDULES`.
   */
  put(params: {
    schedule: Omit<Schedule, 'revision'>
    replaces: Pick<Schedule, 'revision'> | null
  }): Promise<Schedule | 'changed' | 'full'>
  get(params: ScheduleId): Promise<Schedule | null>
  /** Those of an agent, by name. A page can be short: inputs may be large. */
  list(params: { organizationId: string; agentId: string } & PageRequest): Promise<Page<Schedule>>
  /** False if it does not exist. `onlyDeclared`: not one that a client has taken over. */
  delete(params: ScheduleId & { onlyDeclared?: true }): Promise<boolean>
}
