import type { IncomingHttpHeaders } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Behavior, ProxyRequest, ProxyResponse } from './start-proxy.ts'

/** Forwards the request later. */
export const delay =
  (ms: number): Behavior =>
  async (request, next) => {
    await sleep(ms)
    return next(request)
  }

/** Forwards the request twice at the same time, and returns the second response. */
export const duplicateAtOnce: Behavior = async (request, next) => {
  const [, second] = await Promise.all([next(request), next(request)])
  return second
}

/** Forwards the request, and closes the connection in the body of the response. */
export const cutBody: Behavior = async (request, next) => {
  const reply = await next(request)
  return typeof reply === 'string' ? reply : { ...reply, cutAt: reply.body.length / 2 }
}

/** Responds without forwarding the request. */
export const respondWith =
  (response: ProxyResponse): Behavior =>
  async () =>
    response

/** The response of an AWS service that rejects a request. */
export const awsError = (
  status: number,
  code: string,
  { message = 'Injected fault.', headers = {} }: { message?: string; headers?: IncomingHttpHeaders } = {},
): Behavior =>
  respondWith({
    status,
    headers: { ...headers, 'content-type': 'application/x-amz-json-1.0' },
    body: Buffer.from(JSON.stringify({ __type: code, message })),
  })

export const tableError = (name: string) => awsError(400, `com.amazonaws.dynamodb.v20120810#${name}`)

/** Faults by name. The errors are those of a table. */
const FAULTS = {
  /** Closes the connection before the request is forwarded. */
  drop: async () => 'drop',
  /** Never responds. */
  hang: async () => 'hang',
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
