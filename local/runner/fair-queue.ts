import { availableParallelism } from 'node:os'

/**
 * How many times the free slots an organization may occupy: of 40 slots, one alone gets 32, two get 18 each, ten get 4
 * each. The slots that are left let the next organization start at once (dynamic thresholds, Choudhury and Hahne 1998).
 */
const MAX_SHARE = 4

/** Slots to begin with: what waits for others needs more than processors. */
export const FIRST_SLOTS = 4 * availableParallelism()
const MIN_SLOTS = 2
/** As many as one organization alone occupies. */
const usableOf = (slots: number) => Math.floor((slots * MAX_SHARE) / (MAX_SHARE + 1))
/** Timers of a process that are late by more than this cannot keep leases of 10 s for long; below half, they can. */
const LATE_MS = 400

/**
 * How many slots to use from now on: fewer while this machine does not keep up with what it runs, more when all of them
 * are in use and it does. Falls faster than it grows, as a sender of TCP does.
 * @param slots as of now
 * @param load.lateMs by how much a timer of the process was late
 */
export function adaptSlots(
  slots: number,
  { max, running, lateMs }: { max: number; running: number; lateMs: number },
): number {
  if (lateMs > LATE_MS) return Math.min(slots, Math.max(Math.floor(Math.min(slots, running) / 2), MIN_SLOTS))
  const mayGrow = lateMs < LATE_MS / 2 && running >= usableOf(slots)
  return mayGrow ? Math.min(slots + Math.ceil(slots / 4), max) : slots
}

type Organization<T> = { waiting: T[]; running: number }

type Options = {
  /** Of items in process, by organization. */
  limits?: Record<string, number>
  /** What it has in process is short, and starts first. */
  isUrgent?: (organizationId: string) => boolean
}

/**
 * Decides which item a free slot is for: the next one of the organization with the fewest in process. No organization
 * occupies all slots, however many items it has. Urgent items do not wait for others, which keep one slot.
 */
export class FairQueue<T> {
  slots: number
  private readonly limits: Record<string, number>
  private readonly isUrgent: (organizationId: string) => boolean
  /** Those with items, by id. The one that was served last is at the end. */
  private readonly organizations = new Map<string, Organization<T>>()
  waiting = 0
  running = 0
  private urgent = 0

  constructor(slots: number, { limits = {}, isUrgent = () => false }: Options = {}) {
    this.slots = slots
    this.limits = limits
    this.isUrgent = isUrgent
  }

  add(organizationId: string, item: T): void {
    const organization = this.organizations.get(organizationId) ?? { waiting: [], running: 0 }
    organization.waiting.push(item)
    this.organizations.set(organizationId, organization)
    this.waiting++
  }

  /** Occupies a slot until `end` is called. Undefined if nothing may start now. */
  next(): { item: T; end: () => void } | undefined {
    const max = (this.slots - this.running) * MAX_SHARE
    let first: { id: string; organization: Organization<T>; rank: number } | undefined
    for (const [id, organization] of this.organizations) {
      const { waiting, running } = organization
      if (waiting.length === 0 || running >= Math.min(max, this.limits[id] ?? max)) continue
      const isFirst = this.isUrgent(id) && this.urgent < this.slots - 1
      const rank = isFirst ? running - this.slots : running
      if (!first || rank < first.rank) first = { id, organization, rank }
    }
    if (!first) return undefined
    const { id, organization } = first
    const item = organization.waiting.shift() as T
    this.waiting--
    this.change(id, organization, 1)
    this.organizations.delete(id)
    this.organizations.set(id, organization)
    return { item, end: () => this.end(id, organization) }
  }

  private end(id: string, organization: Organization<T>): void {
    this.change(id, organization, -1)
    if (organization.running === 0 && organization.waiting.length === 0) this.organizations.delete(id)
  }

  private change(id: string, organization: Organization<T>, by: 1 | -1): void {
    this.running += by
    organization.running += by
    if (this.isUrgent(id)) this.urgent += by
  }
}
