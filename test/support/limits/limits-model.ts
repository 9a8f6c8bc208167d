import type { LimitName, UsageLimits } from '../../../lib/core/usage-limits.ts'

export type ModelLimits = Pick<UsageLimits, 'maxOpenExecutions' | 'maxRunsPerMinute' | 'queueWhenFull'> & {
  maxCostUsd: number | null
}

type Owner = {
  limits: ModelLimits
  holders: Set<string>
  queue: string[]
  spent: number
  runs: Map<number, number>
}
type Run = { owners: Owner[]; state: 'queued' | 'running' | 'ended' }

/** What a service that loses nothing and has one process does with the same requests. */
export class LimitsModel {
  readonly owners = new Map<string, Owner>()
  readonly runs = new Map<string, Run>()
  readonly started: string[] = []

  setLimits(owner: string, limits: ModelLimits): void {
    this.owners.set(owner, { limits, holders: new Set(), queue: [], spent: 0, runs: new Map() })
  }

  spend(owner: string, costUsd: number): void {
    const found = this.owners.get(owner)
    if (found) found.spent += costUsd
  }

  /** The limit that refuses a run; null if it is accepted. `owners`: the tenant before the agent. */
  accept(owners: string[], { minute, isSync }: { minute: number; isSync: boolean }): LimitName | null {
    const limited = owners.flatMap((owner) => this.owners.get(owner) ?? [])
    if (limited.some(({ limits, spent }) => limits.maxCostUsd !== null && spent >= limits.maxCostUsd))
      return 'maxCostUsd.day'
    const runsOf = ({ runs }: Owner) => runs.get(minute) ?? 0
    if (limited.some((each) => runsOf(each) >= (each.limits.maxRunsPerMinute ?? Number.POSITIVE_INFINITY)))
      return 'maxRunsPerMinute'
    for (const owner of limited) {
      if (hasRoom(owner)) continue
      if (isSync || !owner.limits.queueWhenFull) return 'maxOpenExecutions'
      break
    }
    for (const each of limited) each.runs.set(minute, runsOf(each) + 1)
    return null
  }

  /** After `accept`: the run with its id. */
  add(id: string, owners: string[]): void {
    const limited = owners.flatMap((owner) => this.owners.get(owner) ?? [])
    const run: Run = {
      owners: limited.filter(({ limits }) => limits.maxOpenExecutions !== null),
      state: 'queued',
    }
    this.runs.set(id, run)
    this.advance(id, run)
  }

  /** Takes what is free for the run, or lets it wait for the first that is not. */
  private advance(id: string, run: Run): void {
    for (const owner of run.owners) {
      if (owner.holders.has(id)) continue
      if (!hasRoom(owner)) {
        owner.queue.push(id)
        const accepted = [...this.runs.keys()]
        owner.queue.sort((a, b) => accepted.indexOf(a) - accepted.indexOf(b))
        return
      }
      owner.holders.add(id)
    }
    run.state = 'running'
    this.started.push(id)
  }

  end(id: string): void {
    const run = this.runs.get(id)
    if (!run || run.state === 'ended') return
    run.state = 'ended'
    for (const owner of run.owners) {
      owner.queue = owner.queue.filter((other) => other !== id)
      owner.holders.delete(id)
    }
    const next = run.owners.flatMap(grant)
    for (const granted of next) this.advance(granted, this.runs.get(granted) as Run)
  }

  get running(): string[] {
    return [...this.runs].filter(([, { state }]) => state === 'running').map(([id]) => id)
  }

  get open(): string[] {
    return [...this.runs].filter(([, { state }]) => state !== 'ended').map(([id]) => id)
  }
}

const isFree = ({ limits, holders }: Owner): boolean =>
  holders.size < (limits.maxOpenExecutions ?? Number.POSITIVE_INFINITY)

const hasRoom = (owner: Owner): boolean => isFree(owner) && owner.queue.length === 0

/** Those of the queue that get what is free. */
function grant(owner: Owner): string[] {
  const granted: string[] = []
  while (owner.queue.length > 0 && isFree(owner)) {
    const id = owner.queue.shift() as string
    owner.holders.add(id)
    granted.push(id)
  }
  return granted
}
