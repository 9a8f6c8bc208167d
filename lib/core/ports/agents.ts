import type { Agent, Promotion, Version, VersionStatus } from '../agent.ts'
import type { AbortedEvent, AbortedRollout, Rollout } from '../rollout.ts'
import type { OwnedId, Page, PageRequest } from './system.ts'

/** `agentIds`: 50 at most; null for all agents of the organization. `archived`: also lists archived agents. */
export type AgentListParams = {
  organizationId: string
  agentIds?: string[] | null
  archived?: boolean
} & PageRequest

export type VersionId = { organizationId: string; agentId: string; id: string }

export interface AgentStore {
  /**
   * Writes the version and its code, then points the agent to it; creates the agent if it does not exist. Returns false
   * if the agent is archived, or if `replaces` is given and is not the id of the agent's current version (of its draft,
   * for a draft; null: it has none). Then the version exists, but nothing refers to it; with `isWritten`, the next call
   * does not write it again. `syncAt`: its schedules have to follow, from then on.
   */
  publish(params: {
    version: Version
    code: string | null
    replaces?: string | null
    isWritten?: boolean
    syncAt?: number | null
  }): Promise<boolean>
  /** The number of the next version of an agent: each is returned once. */
  takeNumber(params: { agentId: string }): Promise<number>
  /**
   * Makes a version current, as it is. `draftVersionId` and `current`: the agent's, as read before; `message`: replaces
   * that of a draft; `syncAt`: when schedules have to follow if one of the two versions declares some. Returns null if
   * the draft or the current version has changed, if the agent or the version does not exist, if the agent is archived,
   * or the version retired.
   */
  promote(
    params: VersionId & {
      draftVersionId: string | null
      current: Version | null
      promotion: Promotion
      syncAt: number
      message?: string | undefined
    },
  ): Promise<Agent | null>
  /**
   * Starts or changes a rollout; a draft is published by it, without becoming current. `draftVersionId`, `current` and
   * `replaces`: the agent's, as read before. With abort rules, it enters the agent into the timers before. Null if one
   * of the three has changed, if the agent or the version does not exist, if the agent is archived, or the version
   * retired. `now`: milliseconds since the epoch.
   */
  setRollout(params: {
    organizationId: string
    agentId: string
    draftVersionId: string | null
    current: Pick<Version, 'id'>
    replaces: Rollout | null
    rollout: Rollout
    now: number
  }): Promise<Agent | null>
  /** Ends this rollout, as read before, for good or with the reason. Null if it has changed or ended. */
  endRollout(params: {
    organizationId: string
    agentId: string
    rollout: Rollout
    aborted?: AbortedRollout
  }): Promise<Agent | null>
  /** The event of a rollout that the service has ended is told. */
  setAbortTold(params: { agentId: string; aborted: AbortedRollout }): Promise<void>
  /** Moves the timer of an agent whose schedules have to follow. Null if it was moved before. */
  claimSync(params: { agentId: string; syncAt: number; until: number }): Promise<Agent | null>
  /** The schedules are those of this version. False if another one is current, or if the timer was moved. */
  finishSync(params: { agentId: string; syncAt: number; versionId: string | null }): Promise<boolean>
  /**
   * Deletes a version with this status, and its code. `other`: it has the other status. A deletion that was interrupted
   * is completed by the next one.
   */
  deleteVersion(params: VersionId & { status: VersionStatus }): Promise<'deleted' | 'missing' | 'other'>
  /** Archives or restores (null) an agent; archiving twice keeps the first time. Null if the agent does not exist. */
  setArchived(params: Pick<Agent, 'organizationId' | 'id' | 'archivedAt'>): Promise<Agent | null>
  /**
   * Retires a version of the agent or makes it usable again (null); retiring twice keeps the first time. Null if it is
   * the agent's current version or in a rollout, or if the agent does not exist.
   */
  setRetired(params: VersionId & { retiredAt: string | null }): Promise<Agent | null>
  get(params: OwnedId): Promise<Agent | null>
  list(params: AgentListParams): Promise<Page<Agent>>
  getVersion(params: VersionId): Promise<Version | null>
  /** Published versions and drafts, newest first. */
  listVersions(params: { organizationId: string; agentId: string } & PageRequest): Promise<Page<Version>>
  /** The bundled ES module of a code agent's version. */
  getCode(params: { agentId: string; versionId: string }): Promise<string | null>
}

/** Rollouts that the service may end, and what destinations are told of those that it has ended. */
export interface RolloutStore {
  /** Agents with a rollout that has abort rules, or had one. */
  listWatched(): Promise<{ organizationId: string; agentId: string }[]>
  /** Unless a rollout was started, or changed, at this time (milliseconds since the epoch) or later. */
  unwatch(params: { agentId: string; before: number }): Promise<void>
  /** Keeps what destinations are told, and enters it into the outbox at this time. False if it is kept. */
  putAborted(params: { aborted: AbortedEvent; now: number }): Promise<boolean>
  getAborted(params: OwnedId): Promise<AbortedEvent | null>
}
