import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { newSecret, signWebhook } from '../../../lib/tools/egress/sign-webhook.ts'

const secretOf = (secret: string, expiresAt: string | null = null) => ({
  secret,
  createdAt: '2026-11-01T00:00:00.000Z',
  expiresAt,
})

/** The test vector of the packages `standardwebhooks`. */
const VECTOR = {
  eventId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  body: '{"test": 2432232314}',
  now: 1_614_265_330_999,
}
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const SIGNATURE = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='

describe('signWebhook', () => {
  it('signs the test vector of Standard Webhooks', () => {
    expect(signWebhook({ ...VECTOR, secrets: [secretOf(SECRET)] })).toEqual({
      'webhook-id': VECTOR.eventId,
      'webhook-timestamp': '1614265330',
      'webhook-signature': SIGNATURE,
    })
  })

  it('is verified by the package standardwebhooks, with each secret of a rotation', () => {
    const secrets = [newSecret(), newSecret()]
    const body = '{"output":"größe 💡"}'
    const message = { eventId: 'evt_1', body, secrets: secrets.map((secret) => secretOf(secret)) }
    const headers = signWebhook({ ...message, now: Date.now() }) ?? {}
    for (const secret of secrets) expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body))
    expect(() => new Webhook(newSecret()).verify(body, headers)).toThrow('No matching signature found')
    expect(() => new Webhook(secrets[0] ?? '').verify(`${body} `, headers)).toThrow('No matching signature')
  })

  it('signs with all secrets of a rotation, until the old one expires', () => {
    const isoOf = (ms: number) => new Date(ms).toISOString()
    const signaturesAt = (expiresAt: number | null) => {
      const old = secretOf(SECRET, expiresAt === null ? null : isoOf(expiresAt))
      const headers = signWebhook({ ...VECTOR, secrets: [secretOf(newSecret()), old] })
      return headers?.['webhook-signature']?.split(' ')
    }
    expect(signaturesAt(VECTOR.now + 1)).toEqual([expect.stringMatching(/^v1,.{43}=$/), SIGNATURE])
    expect(signaturesAt(VECTOR.now)).toEqual([expect.not.stringContaining(SIGNATURE)])
  })

  it('returns null if no secret is valid', () => {
    expect(signWebhook({ ...VECTOR, secrets: [] })).toBeNull()
    expect(signWebhook({ ...VECTOR, secrets: [secretOf(SECRET, '2021-02-25T15:02:10.999Z')] })).toBeNull()
  })
})

describe('newSecret', () => {
  it('is 32 random bytes', () => {
    const secrets = [newSecret(), newSecret()]
    for (const secret of secrets) {
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
      expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32)
    }
    expect(secrets[0]).not.toBe(secrets[1])
  })
})
