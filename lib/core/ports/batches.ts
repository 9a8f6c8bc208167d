import type { Batch, Lane, LaneTotals, LineInput } from '../batch.ts'
import type { ExecutionError } from '../execution-errors.ts'
import type { TrialSums } from '../trial.ts'
import type { Marking } from './executions.ts'
import type { OwnedId, Page, PageRequest } from './system.ts'

/**
 * Batches: the record, the blocks of lines and the lanes. Their items are in many partitions, so that no line of a
 * batch waits for another one's write.
 */
export interface BatchStore {
  /**
   * Writes the lines, then the batch; returns it with its blocks. Null if the id exists, or if a later call writes it.
   * What a process leaves that dies in between is completed by such a call, or deleted by the timer.
   */
  create(params: { batch: Omit<Batch, 'blocks'>; lines: LineInput[] }): Promise<Batch | null>
  get(params: OwnedId): Promise<Batch | null>
  /** Batches, or trials, newest first. `agentIds`, `tenantId`, `versionId`: only of these; pages can be short then. */
  list(
    params: {
      organizationId: string
      agentIds: string[] | null
      tenantId: string | null
      versionId?: string | null
      isTrial?: boolean
    } & PageRequest,
  ): Promise<Page<Batch>>
  /** The lines of a block, in order. */
  readBlock(params: { batch: Batch; block: number }): Promise<LineInput[]>
  /** All lanes, in order, also those without an item; then those of lines that have one of their own. */
  listLanes(params: { batch: Batch }): Promise<Lane[]>
  getLane(params: { batch: Batch; number: number }): Promise<Lane>
  /** False if the lane executes another line than `replaces` by now. */
  putLane(params: { batch: Batch; lane: Lane; replaces: number }): Promise<boolean>
  /** No further line starts. False if it was stopped before, or has ended. */
  stop(params: {
    batch: Batch
    error: ExecutionError
    status: 'IN_PROGRESS' | 'CANCELLING'
  }): Promise<boolean>
  /** False if it has ended before, or does not exist. `sums`: of a trial. */
  end(
    params: { batch: Batch; totals: LaneTotals; sums?: TrialSums | null; endedAt: string } & Marking,
  ): Promise<boolean>
  /** Moves the timer of an open batch, or of one that is being deleted. */
  postpone(params: { id: string; openUntil: number }): Promise<void>
  /** Hides an ended batch, whose timer is due at once: its executions and items have to be deleted. */
  hide(params: { batch: Batch; now: number }): Promise<boolean>
  /** A hidden batch, or one whose lines were never complete; null if there is none. */
  getHidden(params: OwnedId): Promise<Batch | null>
  /** Deletes the items of a hidden batch, and its record at last. */
  remove(params: { batch: Batch }): Promise<void>
}
