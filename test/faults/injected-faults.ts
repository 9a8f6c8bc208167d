import type { IncomingHttpHeaders } from 'node:http'
import { seededRandom } from '../support/data/random.ts'

/**
 * What can happen to a request between the service and an emulator, or between a client and the service: `delay`, it is
 * forwarded later; `drop`, the connection is closed before it is forwarded; `duplicate`, it is forwarded twice (to the
 * service at the same time) and the second response is returned; `throttle`, it is rejected and not forwarded; `cut`,
 * it is forwarded, and the connection is closed instead of a response (of the service, or in its body).
 */
export const FAULTS = ['delay', 'drop', 'duplicate', 'throttle', 'cut'] as const

export type Fault = (typeof FAULTS)[number]

export type ProxyKind = 'dynamodb' | 'sqs' | 'service'

export type RawResponse = { status: number; headers: IncomingHttpHeaders; body: Buffer }

const MIN_DELAY_MS = 50
export const MAX_DELAY_MS = 500

/** The faults of a proxy's requests, in order. Each kind of fault is equally likely. */
export function faultSchedule(seed: number, kind: ProxyKind) {
  const random = seededRandom(seed, `faults of ${kind}`)
  return (rate: number): { fault: Fault | null; delayMs: number } => {
    // Always two draws, so that the nth request's values depend only on the seed.
    const [chance, delay] = [random.next(), random.next()]
    const fault = chance < rate ? FAULTS[Math.floor((chance / rate) * FAULTS.length)] : undefined
    return { fault: fault ?? null, delayMs: MIN_DELAY_MS + delay * (MAX_DELAY_MS - MIN_DELAY_MS) }
  }
}

/** The responses that clients of the service retry. */
const THROTTLED = [408, 429, 429, 502, 503, 503]

/** A response that the SDK or a client of the service retries. `delayMs` selects one. */
export function throttlingError(kind: ProxyKind, delayMs: number): RawResponse {
  if (kind === 'service') {
    const status = THROTTLED[Math.floor(delayMs) % THROTTLED.length] ?? 503
    return { status, headers: { 'retry-after': '0' }, body: Buffer.from('Injected fault: slow down.') }
  }
  const [status, __type, headers] =
    kind === 'dynamodb'
      ? ([400, 'com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException', {}] as const)
      : ([503, 'com.amazonaws.sqs#ServiceUnavailable', QUERY_ERROR] as const)
  return awsError(status, { __type, message: 'Injected fault: slow down.' }, headers)
}

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html#limits-items */
export const itemRejection = (): RawResponse =>
  awsError(400, {
    __type: 'com.amazon.coral.validate#ValidationException',
    message: 'Injected fault: Item size has exceeded the maximum allowed size',
  })

function awsError(status: number, error: object, headers: IncomingHttpHeaders = {}): RawResponse {
  const body = Buffer.from(JSON.stringify(error))
  return { status, headers: { ...headers, 'content-type': 'application/x-amz-json-1.0' }, body }
}

/** SQS also sends the error code of its query protocol, which the SDK reads from this header. */
const QUERY_ERROR = { 'x-amzn-query-error': 'ServiceUnavailable;Receiver' }
