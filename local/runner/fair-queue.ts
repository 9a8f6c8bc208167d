/**
 * How many times the free slots an organization may occupy: of 40 slots, one alone gets 32, two get 18 each, ten get 4
 * each. The slots that are left let the next organization start at once (dynamic thresholds, Choudhury and Hahne 1998).
 */
const MAX_SHARE = 4

type Organization<T> = { waiting: T[]; running: number }

/**
 * Decides which item a free slot is for: the next one of the organization with the fewest in process. No organization
 * occupies all slots, however many items it has.
 */
export class FairQueue<T> {
  private readonly slots: number
  private readonly limits: Record<string, number>
  /** Those with items, by id. The one that was served last is at the end. */
  private readonly organizations = new Map<string, Organization<T>>()
  waiting = 0
  running = 0

  /** @param limits of items in process, by id */
  constructor(slots: number, limits: Record<string, number> = {}) {
    this.slots = slots
    this.limits = limits
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
    const [first] = [...this.organizations]
      .filter(([id, { waiting, running }]) => {
        return waiting.length > 0 && running < Math.min(max, this.limits[id] ?? max)
      })
      .sort(([, a], [, b]) => a.running - b.running)
    if (!first) return undefined
    const [id, organization] = first
    const item = organization.waiting.shift() as T
    this.waiting--
    this.running++
    organization.running++
    this.organizations.delete(id)
    this.organizations.set(id, organization)
    return { item, end: () => this.end(id, organization) }
  }

  private end(id: string, organization: Organization<T>): void {
    this.running--
    organization.running--
    if (organization.running === 0 && organization.waiting.length === 0) this.organizations.delete(id)
  }
}
