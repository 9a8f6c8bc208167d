import { abortable } from '../../core/abortable.ts'
import type { DeliveryResult } from '../../core/notification.ts'
import { type Environment, EVENTBRIDGE_ENDPOINT, readSetting } from '../../environment.ts'

const SOURCE = 'agent-execution-service'
const TIMEOUT_MS = 5_000

/**
 * Bytes that an entry has to stay below, which are counted as in `isWithinEntryLimit`.
 * https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-putevent-size.html
 */
const ENTRY_LIMIT_BYTES = 256 * 1024
const TIME_BYTES = 14

export type BusEvent = {
  type: string
  /** ISO 8601 */
  occurredAt: string
  /** A JSON object */
  detail: string
}

/** Whether EventBridge takes the event. */
export const isWithinEntryLimit = ({ type, detail }: Pick<BusEvent, 'type' | 'detail'>): boolean =>
  TIME_BYTES + Buffer.byteLength(SOURCE + type + detail) < ENTRY_LIMIT_BYTES

/**
 * Puts an event on the bus of the deployment, with the credentials and the region of the environment. Never throws, and
 * does not retry: deliveries are repeated later. Errors contain nothing of the event.
 * https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html
 */
export async function sendToEventBus(
  event: BusEvent,
  environment: Environment = process.env,
  { timeoutMs = TIMEOUT_MS } = {},
): Promise<DeliveryResult> {
  const { AWS_REGION: region, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = environment
  const bus = readSetting('eventBus', environment)
  if (!bus) return failed(`The environment variable EVENT_BUS is not set.`)
  if (!region || !AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY)
    return failed('Set AWS_REGION, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY for the event bus.')
  if (!isWithinEntryLimit(event))
    return failed('The event is not smaller than 256 kB, as EventBridge requires.')
  const entry = {
    EventBusName: bus,
    Source: SOURCE,
    DetailType: event.type,
    Time: Math.round(Date.parse(event.occurredAt) / 1000),
    Detail: event.detail,
  }
  const signal = AbortSignal.timeout(timeoutMs)
  let status: number | null = null
  try {
    // On demand: few deployments have a bus.
    const { AwsClient } = await import('aws4fetch')
    const client = new AwsClient({
      accessKeyId: AWS_ACCESS_KEY_ID,
      secretAccessKey: AWS_SECRET_ACCESS_KEY,
      ...(AWS_SESSION_TOKEN && { sessionToken: AWS_SESSION_TOKEN }),
      service: 'events',
      region,
      retries: 0,
    })
    const sending = client.fetch(environment[EVENTBRIDGE_ENDPOINT] || endpointOf(region), {
      method: 'POST',
      headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': 'AWSEvents.PutEvents' },
      body: JSON.stringify({ Entries: [entry] }),
      redirect: 'manual',
      signal,
    })
    const response = await abortable(signal, sending)
    status = response.status
    const body = parse(await abortable(signal, response.text()))
    if (response.ok && body?.FailedEntryCount === 0)
      return { ok: true, responseStatus: status, error: null, isGone: false }
    const code = /\w{1,100}$/.exec(String(body?.Entries?.[0]?.ErrorCode ?? body?.__type ?? ''))?.[0]
    return failed(`EventBridge answered ${status}${code ? `: ${code}` : ''}.`, status)
  } catch (error) {
    if (signal.aborted)
      return failed(`No answer from EventBridge within ${timeoutMs / 1000} seconds.`, status)
    const { code } = ((error as Error).cause ?? error) as NodeJS.ErrnoException
    return failed(`The connection to EventBridge failed${code ? `: ${code}` : ''}.`, status)
  }
}

/** https://docs.aws.amazon.com/general/latest/gr/ev.html */
const endpointOf = (region: string) =>
  `https://events.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}/`

type PutEventsResponse = {
  FailedEntryCount?: number
  Entries?: { ErrorCode?: string }[]
  __type?: string
} | null

function parse(text: string): PutEventsResponse {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const failed = (error: string, responseStatus: number | null = null): DeliveryResult => ({
  ok: false,
  responseStatus,
  error,
  isGone: false,
})
