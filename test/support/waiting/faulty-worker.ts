import { Unavailable } from '../../../lib/core/errors.ts'
import type { Table } from '../../../lib/dynamodb/table/table.ts'
import { wrapTable } from '../tables/wrap-table.ts'

/** How a request of a worker fails: its process dies, or it gets an error. `after`: the request was carried out. */
export const FAULT_KINDS = ['die before', 'die after', 'fail before', 'fail after'] as const

/** Those of a request that differ: one that only reads has no effect that can be lost. */
export const faultKindsOf = (method: string): FaultKind[] =>
  ['get', 'query', 'getMany'].includes(method) ? ['die before', 'fail before'] : [...FAULT_KINDS]

export type FaultKind = (typeof FAULT_KINDS)[number]

/** `at`: the position of the request among all that workers send. */
export type Fault = { at: number; kind: FaultKind }

/** The process of the worker is dead. Nothing catches this but what would not run either. */
export class Died extends Error {
  override readonly name = 'Died'
}

type Requests = {
  /** Returns the position of the next request. */
  next: (method: string) => number
  /** Called before each request. */
  before: (at: number) => Promise<unknown>
  faults: readonly Fault[]
}

/** The requests of one worker process. */
export class FaultyWorker {
  isDead = false
  private readonly requests: Requests

  constructor(requests: Requests) {
    this.requests = requests
  }

  wrap =
    <A extends unknown[], R>(method: string, send: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (this.isDead) throw new Died()
      const at = this.requests.next(method)
      await this.requests.before(at)
      const kind = this.requests.faults.find((fault) => fault.at === at)?.kind
      if (kind?.endsWith('before')) this.fail(kind)
      const result = await send(...args)
      if (this.isDead) throw new Died()
      if (kind) this.fail(kind)
      return result
    }

  tableOf = (table: Table): Table => wrapTable(table, this.wrap)

  private fail(kind: FaultKind): never {
    if (kind.startsWith('fail')) throw new Unavailable(new Error('Throttled.'))
    this.isDead = true
    throw new Died()
  }
}
