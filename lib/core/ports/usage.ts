import type { UsageEntry, UsageInterval, UsageRow } from '../usage.ts'
import type { LimitSubject, LimitWarning, SpendingSubject, Spent, StoredLimits } from '../usage-limits.ts'
import type { OwnedId, Page, PageRequest } from './system.ts'

/** Totals of what executions have used, by minute, hour and day. They are replaced, never incremented. */
export interface UsageStore {
  /**
   * The entries of executions that became final from `from` on and before `before` (milliseconds since the epoch), page
   * by page; those before `until` have been read then, and all after the last page. Entries of deleted executions stay
   * until the position has passed them.
   */
  readEntries(params: {
    from: number
    before: number
  }): AsyncGenerator<{ entries: UsageEntry[]; until: number }>
  /**
   * Replaces the totals of an organization in an interval, unless they are final: entries of deleted executions may be
   * gone since. Others than final ones also do not replace what was read later. `readAt`: when reading began. `start`,
   * `readAt`: milliseconds since the epoch.
   */
  put(
    params: { organizationId: string; rows: UsageRow[]; readAt: number; isFinal: boolean } & UsageSlot,
  ): Promise<void>
  /** The totals of an organization in all intervals that begin from `from` on and before `to`, in order. */
  read(params: {
    organizationId: string
    interval: UsageInterval
    from: number
    to: number
  }): AsyncGenerator<{ start: number; rows: UsageRow[] }>
  /**
   * The totals of all minutes of the hour, or of all hours of the day, that begins at `start`: those of one
   * organization after the other.
   */
  readParts(params: {
    start: number
    interval: 'hour' | 'day'
  }): AsyncGenerator<{ organizationId: string; rows: UsageRow[] }>
  /** Up to where totals are complete, in milliseconds since the epoch; null at the beginning. */
  getPosition(): Promise<UsagePosition | null>
  /** Moves it forward: what would move back a part of it is ignored. */
  setPosition(params: { position: UsagePosition }): Promise<void>
}

export type UsageSlot = { interval: UsageInterval; start: number }

/** The end of the last minute, hour and day whose totals are final, in milliseconds since the epoch. */
export type UsagePosition = Record<UsageInterval, number>

/** Limits of tenants and agents, and what has been used of them. */
export interface LimitStore {
  /** Whether the organization has limits: one small read. */
  hasAny(params: { organizationId: string }): Promise<boolean>
  get(params: SubjectKey): Promise<StoredLimits | null>
  /** Those of agents, then those of tenants, each by id. `kind` null: both. */
  list(
    params: { organizationId: string; kind: LimitSubject['kind'] | null } & PageRequest,
  ): Promise<Page<StoredLimits & { subject: LimitSubject }>>
  put(params: SubjectKey & { limits: StoredLimits }): Promise<void>
  /** False if there are none. */
  delete(params: SubjectKey): Promise<boolean>
  /**
   * Counts a run of the subject in a minute (since the epoch), of which `max` are permitted. False if it is one more.
   * A request whose response was lost may count twice.
   */
  countRun(params: SubjectKey & { minute: number; max: number }): Promise<boolean>
  /** Takes one back: never two, also if a response was lost. */
  uncountRun(params: SubjectKey & { minute: number }): Promise<void>
  /**
   * Takes one of `max` slots for an execution, unless it has one. False if all are taken. A slot whose execution has
   * ended, or was not recorded within 10 minutes, is free: no crash can occupy one for good, and never are there more
   * than `max`. Above a `max` that was lowered, they are as many as before until enough of them are released.
   */
  takeSlot(params: SubjectKey & { max: number; executionId: string; now: number }): Promise<boolean>
  /** Whether an execution has a slot: the takers find out whether it has ended. */
  hasSlot(params: SubjectKey & { executionId: string }): Promise<boolean>
  /** Does nothing if the execution has none. @param takenAt only one that was taken at this `now` */
  releaseSlot(params: SubjectKey & { executionId: string; takenAt?: number }): Promise<void>
  /** Slots that are taken, also by executions that have ended and could not release them. */
  countSlots(params: SubjectKey): Promise<number>
  /**
   * Adds to what the subject has spent in the day and the month of this time (milliseconds since the epoch). A request
   * whose response was lost may count twice.
   */
  addSpent(params: SpendingKey & { at: number; costUsd: number }): Promise<void>
  getSpent(params: SpendingKey & { at: number }): Promise<Spent>
  /** Keeps a warning and enters it into the outbox. False if one with its id is kept. */
  putWarning(params: { warning: LimitWarning }): Promise<boolean>
  getWarning(params: OwnedId): Promise<LimitWarning | null>
}

/** A tenant or an agent of an organization. */
export type SubjectKey = { organizationId: string; subject: LimitSubject }

export type SpendingKey = { organizationId: string; subject: SpendingSubject }
