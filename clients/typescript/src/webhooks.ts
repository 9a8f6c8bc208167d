import { AgentError } from './errors.ts'
import type { Batch, Execution } from './records.ts'

type Absent = 'input' | 'output' | 'error'

/** What webhooks receive. Newer services may send further types: ignore those that you do not know. */
export type WebhookEvent<Output = Record<string, unknown>> =
  | {
      type: 'execution.succeeded' | 'execution.failed' | 'execution.cancelled' | 'execution.waiting'
      /** When it happened. ISO 8601 */
      timestamp: string
      /**
       * The execution as it was then. Above 256 kB, `input` and `output` are absent: `client.get` has them.
       * `deleted`: it was deleted before this was sent, and they are gone, with its `error`.
       */
      data: Omit<Execution<Output>, Absent> & Partial<Pick<Execution<Output>, Absent>> & { deleted?: true }
    }
  /** `data`: the batch as it was at its end. `client.batchResults` has what became of its lines. */
  | { type: 'batch.ended'; timestamp: string; data: Batch }
  /** A tenant or an agent has spent the share `warnAt` of a cost limit. */
  | { type: 'limit.warning'; timestamp: string; data: LimitWarning }
  /** The service has ended a rollout. */
  | { type: 'rollout.aborted'; timestamp: string; data: AbortedRollout }
  | { type: 'webhook.test'; timestamp: string; data: { webhookId: string } }

/** `tenantId` or `agentId`: whose limit it is. `at`: when so much was spent. ISO 8601 */
export type LimitWarning = { id: string } & ({ tenantId: string } | { agentId: string }) & {
    period: 'day' | 'month'
    limitUsd: number
    spentUsd: number
    warnAt: number
    at: string
  }

/** What a version did during a rollout. */
export type RolloutFigures = {
  versionId: string
  /** Without those whose errors do not follow from the version. */
  runs: number
  failed: number
  /** Those that were no cache hits and not cancelled, and whose price is known. */
  computed: number
  /** Of these. */
  costUsd: number
}

/** A rollout that the service has ended. `figures`: both versions in the same time. ISO 8601 */
export type AbortedRollout = {
  id: string
  agentId: string
  slug: string
  versionId: string
  percent: number
  key: 'tenant' | 'execution'
  startedAt: string
  at: string
  reason: string
  figures: { rollout: RolloutFigures; current: RolloutFigures }
}

/** Those of `Request` and `Response`, or an object as in Node.js, whatever the case of its names. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>

const MAX_CLOCK_SKEW_SECONDS = 300

/** By the specification. */
const MIN_KEY_BYTES = 24

/** Not a literal, so that bundlers for browsers do not look for it. Node 18 has no global `crypto`. */
const NODE_CRYPTO = 'node:crypto'

/**
 * Verifies the signature of a webhook (Standard Webhooks 1.0.0) and returns its event. `webhook-id` is the same for all
 * attempts to deliver it.
 * @param body as it was received: not parsed
 * @param secret `whsec_…`, or several of them of which one has to match
 * @param parse used instead of `JSON.parse`
 * @throws AgentError `InvalidWebhook`, whose `reason` says what is wrong
 * @throws TypeError if the body is not text or bytes, or a secret is not valid
 */
export async function parseWebhook<Output = Record<string, unknown>>(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  parse: (text: string) => unknown = JSON.parse,
): Promise<WebhookEvent<Output>> {
  const keys = [secret].flat().map(toKey)
  if (keys.length === 0 || keys.some(({ length }) => length < MIN_KEY_BYTES))
    throw new TypeError('secret must be a text such as whsec_…, or a list of them.')
  const content = typeof body === 'string' ? encode(body) : body
  if (!(content instanceof Uint8Array)) throw new TypeError('body must be text or bytes, as it was received.')

  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) =>
    readHeader(headers, `webhook-${name}`),
  ) as [string, string, string]
  // NaN is not within the limit.
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= MAX_CLOCK_SKEW_SECONDS))
    throw invalid('timestamp', `webhook-timestamp is not within ${MAX_CLOCK_SKEW_SECONDS} seconds of now.`)

  const start = encode(`${id}.${timestamp}.`)
  const signed = new Uint8Array(start.length + content.length)
  signed.set(start)
  signed.set(content, start.length)
  if (!(await isSigned(signed, signatures, keys)))
    throw invalid('signature', 'webhook-signature does not match the body and the secret.')

  let cause: unknown
  try {
    const event = parse(new TextDecoder().decode(content)) as WebhookEvent<Output>
    if (event.type && event.data) return event
  } catch (error) {
    cause = error
  }
  throw invalid('body', 'The body is not an event.', cause)
}

/** Whether one of the signatures was made with one of the keys. `subtle.verify` takes constant time. */
async function isSigned(content: Bytes, signatures: string, keys: Bytes[]): Promise<boolean> {
  const { subtle } = globalThis.crypto ?? (await import(NODE_CRYPTO)).webcrypto
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  for (const bytes of keys) {
    const key = await subtle.importKey('raw', bytes, algorithm, false, ['verify'])
    for (const [, signature = ''] of signatures.matchAll(/(?:^| )v1,(\S+)/g))
      if (await subtle.verify('HMAC', key, fromBase64(signature), content)) return true
  }
  return false
}

type Bytes = Uint8Array<ArrayBuffer>

const encode = (text: string): Bytes => new TextEncoder().encode(text)

const toKey = (secret: string) => fromBase64(`${secret}`.replace(/^whsec_/, ''))

/** Empty if it is not Base64. */
function fromBase64(text: string): Bytes {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
  } catch {
    return new Uint8Array()
  }
}

function readHeader(headers: WebhookHeaders, name: string): string {
  const entries = Symbol.iterator in headers ? [...headers] : Object.entries(headers)
  const value = entries.find(([key]) => key.toLowerCase() === name)?.[1]
  if (value?.length) return String(value)
  throw invalid('headers', `The header ${name} is missing.`)
}

const invalid = (reason: string, detail: string, cause?: unknown): AgentError =>
  new AgentError({ code: 'InvalidWebhook', reason, detail }, cause)
