import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sendWebhook } from '../../../lib/engine/notifications/send-webhook.ts'
import { newSecret } from '../../../lib/engine/notifications/sign-webhook.ts'
import { waitUntil } from '../../support/processes/wait-until.ts'

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
