import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { Client, parseWebhook } from '../../../clients/typescript/src/index.ts'
import { sendWebhook } from '../../../lib/engine/notifications/send-webhook.ts'
import { newSecret, signWebhook } from '../../../lib/tools/egress/sign-webhook.ts'
import { waitUntil } from '../../support/processes/processes.ts'

const NOW = 1_614_265_330_000

/** The test vector of the packages `standardwebhooks`. */
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

const EVENT = { type: 'execution.succeeded', timestamp: '2021-02-25T15:02:10Z', data: { output: 'größe 💡' } }

const BODY = JSON.stringify(EVENT)

function sign(body: string, secrets = [SECRET], now = NOW): Record<string, string> {
  const valid = secrets.map((secret) => ({ secret, createdAt: '', expiresAt: null }))
  return signWebhook({ eventId: 'evt_1', body, secrets: valid, now }) ?? {}
}

describe('parseWebhook', () => {
  beforeEach(() => void vi.useFakeTimers({ now: NOW, toFake: ['Date'] }))
  afterEach(() => void vi.useRealTimers())

  it('returns the event, from text and bytes, with headers in any form', async () => {
    const headers = sign(BODY)
    const upper = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]),
    )
    const node = { ...headers, ':path': '/', 'x-none': undefined, 'set-cookie': ['a', 'b'] }
    const bytes = new TextEncoder().encode(BODY)
    const part = new Uint8Array([0, ...bytes, 0]).subarray(1, -1)
    for (const body of [BODY, bytes, Buffer.from(BODY), part])
      for (const form of [headers, upper, node, new Headers(headers)])
        expect(await parseWebhook(body, form, SECRET)).toEqual(EVENT)
  })

  const headers = sign(BODY)

  it.each([undefined, '', 'whsec_!!!', []])('throws a TypeError for the secret %j', async (secret) => {
    const parsing = parseWebhook(BODY, headers, secret as string)
    await expect(parsing).rejects.toThrow(
      new TypeError('secret must be a text such as whsec_…, or a list of them.'),
    )
  })

  it('works in Node 18, which has no global crypto', async () => {
    vi.stubGlobal('crypto', undefined)
    try {
      expect(await parseWebhook(BODY, headers, SECRET)).toEqual(EVENT)
      await expect(parseWebhook(BODY, headers, newSecret())).rejects.toMatchObject({ reason: 'signature' })
    } finally {
      vi.unstubAllGlobals()
    }
  })

  it('is a method of the client, which parses as its other methods do', async () => {
    const parse = (text: string) =>
      JSON.parse(text, (_, value) => (typeof value === 'number' ? `${value}` : value))
    const client = new Client({ baseUrl: 'http://127.0.0.1:9', token: 'x', parse })
    const body = '{"type":"execution.failed","data":{"steps":1}}'
    const event = await client.parseWebhook(body, sign(body), SECRET)
    expect(event).toEqual({ type: 'execution.failed', data: { steps: '1' } })
  })
})

const RECEIVER = fileURLToPath(new URL('../../../examples/typescript/webhook-receiver.ts', import.meta.url))

const SECRETS = [newSecret(), newSecret()]

/** The example as a process. */
function startReceiver() {
  const env = { ...process.env, PORT: '0', WEBHOOK_SECRET: SECRETS.join() }
  const child = spawn(process.execPath, [RECEIVER], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const sees = (text: string) => waitUntil(() => output.includes(text), { what: text, limitMs: 20_000 })
  return {
    sees,
    output: () => output,
    async host() {
      await sees('listening on')
      return `127.0.0.1:${/listening on (\d+)/.exec(output)?.[1]}`
    },
    async stop() {
      child.kill()
      await once(child, 'exit')
    },
  }
}

describe('the example receiver', () => {
  let receiver: ReturnType<typeof startReceiver>
  let host: string
  beforeAll(async () => {
    receiver = startReceiver()
    host = await receiver.host()
  })
  afterAll(() => receiver.stop())

  const send = (eventId: string, event: object, secret = SECRETS[0]) =>
    sendWebhook({
      url: `http://${host}/`,
      allowedHosts: [host],
      mayBePrivate: () => true,
      secrets: [{ secret: secret ?? '', createdAt: '', expiresAt: null }],
      eventId,
      body: JSON.stringify(event),
      now: Date.now(),
    })

  it('handles each event once, signed with any of its secrets, and rejects others', async () => {
    const event = { type: 'execution.failed', timestamp: '', data: { id: '01', error: { code: 'TimedOut' } } }
    for (const secret of [...SECRETS, ...SECRETS])
      expect(await send('evt_1', event, secret)).toMatchObject({ ok: true, responseStatus: 204 })
    expect(await send('evt_2', { type: 'limit.warning', data: {} })).toMatchObject({ responseStatus: 204 })
    await receiver.sees('limit.warning')
    const data = { id: '07', lines: 3, counts: { ERROR: 1 } }
    expect(await send('evt_3', { type: 'batch.ended', data })).toMatchObject({ responseStatus: 204 })
    await receiver.sees('ended: 07, 1 of 3 lines failed')
    expect(receiver.output().match(/failed: 01 TimedOut/g)).toHaveLength(1)
    const rejected = { type: 'execution.succeeded', data: { id: 'rejected-run' } }
    expect(await send('evt_3', rejected, newSecret())).toMatchObject({ ok: false, responseStatus: 400 })
    await receiver.sees('rejected: signature')
    const large = await send('evt_4', { ...rejected, more: 'x'.repeat(1_000_000) })
    expect(large).toMatchObject({ ok: false, responseStatus: 413 })
    expect(receiver.output()).not.toContain('rejected-run')
  })
})
