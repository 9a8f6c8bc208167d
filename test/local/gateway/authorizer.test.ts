import type { APIGatewayAuthorizerResult } from 'aws-lambda'
import { describe, expect, it, vi } from 'vitest'
import { describeMistake } from '../../../lib/access/tokens.ts'
import { cacheAuthorizer } from '../../../local/gateway/functions.ts'

const EVENT = { type: 'TOKEN', methodArn: 'arn' } as const

/**
 * A cached authorizer that rejects the token `bad`, the tokens it was called with, and a clock that stands still.
 * @param expiresAt of all other tokens
 */
function createCached(expiresAt?: number) {
  const calls: string[] = []
  const clock = { now: 1_000 }
  const authorizer = cacheAuthorizer(
    async ({ authorizationToken: token }) => {
      calls.push(token)
      if (token === 'bad') throw new Error('Unauthorized')
      const context = expiresAt === undefined ? {} : { expiresAt: String(expiresAt) }
      return { principalId: token, context } as APIGatewayAuthorizerResult
    },
    () => clock.now,
  )
  return {
    calls,
    clock,
    authorize: (authorizationToken: string) => authorizer({ ...EVENT, authorizationToken }),
  }
}

describe('cacheAuthorizer', () => {
  it('calls the authorizer once per token in 250 ms, for concurrent requests too', async () => {
    const { calls, clock, authorize } = createCached()
    const policies = await Promise.all([authorize('a'), authorize('a'), authorize('b')])
    clock.now += 250
    policies.push(await authorize('a'))
    expect(policies.map(({ principalId }) => principalId)).toEqual(['a', 'a', 'b', 'a'])
    expect(calls).toEqual(['a', 'b'])
    clock.now += 1
    await authorize('a')
    expect(calls).toEqual(['a', 'b', 'a'])
  })

  it('does not cache a rejection', async () => {
    const { calls, authorize } = createCached()
    const both = await Promise.allSettled([authorize('bad'), authorize('bad')])
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await expect(authorize('bad')).rejects.toThrow('Unauthorized')
    expect(calls).toEqual(['bad', 'bad'])
  })

  it('does not keep a policy beyond the end of its token', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 9_900 })
    const { calls, clock, authorize } = createCached(10)
    await authorize('a')
    clock.now += 100
    await authorize('a')
    expect(calls).toEqual(['a'])
    clock.now += 1
    await authorize('a')
    expect(calls).toEqual(['a', 'a'])
    vi.setSystemTime(20_000)
    await authorize('b')
    clock.now += 2
    await authorize('b')
    expect(calls).toEqual(['a', 'a', 'b', 'b'])
    vi.useRealTimers()
  })
})

describe('describeMistake', () => {
  const [header, claims] = ['eyJhbGciOiJSUzI1NiJ9', 'eyJzdWIiOiJhZGEifQ']

  it('says the same of every JSON Web Token, and nothing of what it contains', () => {
    const sentences = [`${claims}.AAAA`, `${claims}.BBBB`, 'W10.x', `${'A'.repeat(9_000)}.x`].map((rest) =>
      describeMistake(`Bearer ${header}.${rest}`, 'https://login.example'),
    )
    const sentence = 'The access token is invalid or has expired, or it is not for this service.'
    expect(sentences).toEqual(Array(4).fill(sentence))
  })

  it.each(['at_hash', 'c_hash'])('says to send the access token in place of an ID token: %s', (claim) => {
    const idToken = [header, Buffer.from(JSON.stringify({ [claim]: 'x' })).toString('base64url'), 'AAAA']
    expect(describeMistake(`Bearer ${idToken.join('.')}`, 'https://login.example')).toBe(
      'The token is an ID token. Send the access token, which the provider issues with it.',
    )
  })
})
