import type { Behavior, ProxyRequest } from './start-proxy.ts'

/** A forwarded request and its response. */
export type Exchange = { operation: string; request: Buffer; status: number; response: Buffer }

/** Calls the listener for each forwarded request, before its response is returned. */
export const observe =
  (listener: (exchange: Exchange) => void): Behavior =>
  async (request, next) => {
    const reply = await next(request)
    if (typeof reply !== 'string')
      listener({
        operation: request.operation,
        request: request.body,
        status: reply.status,
        response: reply.body,
      })
    return reply
  }

export type TimedRequest = { operation: string; startedAt: number; endedAt: number }

/** Records when requests begin and end, of all proxies that share the behavior. */
export function timeRequests() {
  let requests: TimedRequest[] = []
  const behavior: Behavior = async (request, next) => {
    const startedAt = performance.now()
    const reply = await next(request)
    requests.push({ operation: request.operation, startedAt, endedAt: performance.now() })
    return reply
  }
  return {
    behavior,
    /** The requests since the last call, in the order of their ends. */
    take(): TimedRequest[] {
      const taken = requests
      requests = []
      return taken
    },
  }
}

/** The operations of a longest chain of requests in which each started after the one before had ended. */
export function sequentialOperations(requests: TimedRequest[]): string[] {
  const chain: TimedRequest[] = []
  for (const request of requests) if (request.startedAt >= (chain.at(-1)?.endedAt ?? 0)) chain.push(request)
  return chain.map(({ operation }) => operation)
}

export type Consumption = {
  /** Number of requests by operation. */
  requests: Record<string, number>
  /** Consumed capacity units of table and indexes. */
  readUnits: number
  writeUnits: number
  /** Size of the bodies of write requests. */
  writtenBytes: number
}

type Capacity = { CapacityUnits: number }

const READS = new Set(['GetItem', 'BatchGetItem', 'Query', 'Scan'])

/** Counts requests to a table and the capacity that they consume. */
export function meterCapacity() {
  let consumption = noConsumption()
  const record = ({ operation, body }: ProxyRequest, response: Buffer): void => {
    const { ConsumedCapacity = [] } = JSON.parse(String(response)) as {
      ConsumedCapacity?: Capacity | Capacity[]
    }
    const units = [ConsumedCapacity].flat().reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0)
    consumption.requests[operation] = (consumption.requests[operation] ?? 0) + 1
    if (READS.has(operation)) consumption.readUnits += units
    else {
      consumption.writeUnits += units
      consumption.writtenBytes += body.length
    }
  }
  const behavior: Behavior = async (request, next) => {
    const metered = { ...JSON.parse(String(request.body)), ReturnConsumedCapacity: 'TOTAL' }
    const reply = await next({ ...request, body: Buffer.from(JSON.stringify(metered)) })
    if (typeof reply !== 'string' && reply.status === 200) record(request, reply.body)
    return reply
  }
  return {
    behavior,
    /** What was consumed since the last call. */
    take(): Consumption {
      const taken = consumption
      consumption = noConsumption()
      return taken
    },
  }
}

const noConsumption = (): Consumption => ({ requests: {}, readUnits: 0, writeUnits: 0, writtenBytes: 0 })
