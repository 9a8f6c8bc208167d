import type { IncomingHttpHeaders } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { seededRandom } from '../data/random.ts'
import type { Behavior, ProxyRequest, ProxyResponse } from './start-proxy.ts'

/** Forwards the request later. */
export const delay =
  (ms: number): Behavior =>
  async (request, next) => {
    await sleep(ms)
    return next(request)
  }

/** Forwards the request twice at the same time, and returns the second response. */
const duplicateAtOnce: Behavior = async (request, next) => {
  const [, second] = await Promise.all([next(request), next(request)])
  return second
}

/** Forwards the request, and closes the connection in the body of the response. */
const cutBody: Behavior = async (request, next) => {
  const reply = await next(request)
  return typeof reply === 'string' ? reply : { ...reply, cutAt: reply.body.length / 2 }
}

/** Responds without forwarding the request. */
const respondWith =
  (response: ProxyResponse): Behavior =>
  async () =>
    response

/** The response of an AWS service that rejects a request. */
const awsError = (
  status: number,
  code: string,
  { message = 'Injected fault.', headers = {} }: { message?: string; headers?: IncomingHttpHeaders } = {},
): Behavior =>
  respondWith({
    status,
    headers: { ...headers, 'content-type': 'application/x-amz-json-1.0' },
    body: Buffer.from(JSON.stringify({ __type: code, message })),
  })

const tableError = (name: string) => awsError(400, `com.amazonaws.dynamodb.v20120810#${name}`)

/** Faults by name. The errors are those of a table. */
const FAULTS = {
  /** Closes the connection before the request is forwarded. */
  drop: async () => 'drop',
  /** Closes the connection when clients in AWS give up. Those of emulators wait for much longer. */
  hang: async () => {
    await sleep(2_000)
    return 'drop'
  },
  /** Forwards the request, and closes the connection instead of a response. */
  cut: async (request, next) => {
    await next(request)
    return 'drop'
  },
  /** Forwards the request twice, and returns the second response. */
  duplicate: async (request, next) => {
    await next(request)
    return next(request)
  },
  throttle: tableError('ProvisionedThroughputExceededException'),
  /** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html#limits-items */
  reject: awsError(400, 'com.amazon.coral.validate#ValidationException', {
    message: 'Injected fault: Item size has exceeded the maximum allowed size',
  }),
} satisfies Record<string, Behavior>

export type FaultName = keyof typeof FAULTS
export type Fault = FaultName | Behavior

/** Applies the fault that is chosen for a request. Without one, the next behavior handles it. */
export const inject =
  (choose: (request: ProxyRequest) => Fault | null | undefined): Behavior =>
  (request, next) => {
    const fault = choose(request)
    if (!fault) return next(request)
    return typeof fault === 'string' ? FAULTS[fault](request, next) : fault(request, next)
  }

/**
 * What can happen to a request between the service and an emulator, or between a client and the service: `delay`, it is
 * forwarded later; `drop`, the connection is closed before it is forwarded; `duplicate`, it is forwarded twice (to the
 * service at the same time) and the second response is returned; `throttle`, it is rejected and not forwarded; `cut`,
 * it is forwarded, and the connection is closed instead of a response (of the service, or in its body).
 */
const SCHEDULED = ['delay', 'drop', 'duplicate', 'throttle', 'cut'] as const

export type ScheduledFault = (typeof SCHEDULED)[number]

type Target = 'dynamodb' | 'sqs' | 'service'

type Options = {
  target: Target
  seed: number
  /** Share of the requests that get a fault. */
  rate: number
}

const MIN_DELAY_MS = 50
const MAX_DELAY_MS = 500

/** The faults of a proxy's requests, in order. Each kind of fault is equally likely. */
export function faultSchedule(seed: number, target: Target) {
  const random = seededRandom(seed, `faults of ${target}`)
  return (rate: number): { fault: ScheduledFault | null; delayMs: number } => {
    // Always two draws, so that the nth request's values depend only on the seed.
    const [chance, position] = [random.next(), random.next()]
    const fault = chance < rate ? SCHEDULED[Math.floor((chance / rate) * SCHEDULED.length)] : undefined
    return { fault: fault ?? null, delayMs: MIN_DELAY_MS + position * (MAX_DELAY_MS - MIN_DELAY_MS) }
  }
}

/** Injects scheduled faults into the requests. */
export function scheduledFaults({ target, seed, rate: initialRate }: Options) {
  const next = faultSchedule(seed, target)
  const counts = Object.fromEntries(SCHEDULED.map((fault) => [fault, 0])) as Record<ScheduledFault, number>
  let rate = initialRate
  const behavior = inject(({ operation }) => {
    const { fault, delayMs } = next(rate)
    // A second ReceiveMessage returns other messages and loses those of the first, which is what `cut` does.
    if (!fault || (operation === 'ReceiveMessage' && fault === 'duplicate')) return null
    counts[fault]++
    return toFault(fault, target, delayMs)
  })
  return {
    behavior,
    counts,
    setRate(next: number): void {
      rate = next
    },
  }
}

function toFault(fault: ScheduledFault, target: Target, delayMs: number): Fault {
  if (fault === 'delay') return delay(delayMs)
  if (fault === 'throttle') return throttlingError(target, delayMs)
  if (target !== 'service') return fault
  if (fault === 'duplicate') return duplicateAtOnce
  return fault === 'cut' && delayMs > MAX_DELAY_MS / 2 ? cutBody : fault
}

/** The responses that clients of the service retry. */
const THROTTLED = [408, 429, 429, 502, 503, 503]

/** A response that the SDK or a client of the service retries. `delayMs` selects one. */
function throttlingError(target: Target, delayMs: number): Fault {
  if (target === 'dynamodb') return 'throttle'
  // SQS also sends the error code of its query protocol, which the SDK reads from this header.
  const headers = { 'x-amzn-query-error': 'ServiceUnavailable;Receiver' }
  if (target === 'sqs') return awsError(503, 'com.amazonaws.sqs#ServiceUnavailable', { headers })
  const status = THROTTLED[Math.floor(delayMs) % THROTTLED.length] ?? 503
  return respondWith({ status, headers: { 'retry-after': '0' }, body: Buffer.from('Injected fault.') })
}
