import type { APIGatewayAuthorizerResult, APIGatewayTokenAuthorizerEvent } from 'aws-lambda'
import { describe, expect, it } from 'vitest'
import { cacheAuthorizer } from '../../../local/gateway/functions.ts'

const eventOf = (authorizationToken: string): APIGatewayTokenAuthorizerEvent => ({
  type: 'TOKEN',
  methodArn: 'arn',
  authorizationToken,
})

/** A cached authorizer that rejects the token `bad`, the tokens it was called with, and a clock that stands still. */
function createCached() {
  const calls: string[] = []
  const clock = { now: 1_000 }
  const authorizer = cacheAuthorizer(
    async ({ authorizationToken: token }) => {
      calls.push(token)
      if (token === 'bad') throw new Error('Unauthorized')
      return { principalId: token } as APIGatewayAuthorizerResult
    },
    () => clock.now,
  )
  return { calls, clock, authorize: (token: string) => authorizer(eventOf(token)) }
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

  it('evicts the least recently used token when it is full', async () => {
    const { calls, authorize } = createCached()
    for (let i = 0; i < 1_001; i++) await authorize(`token ${i}`)
    await authorize('token 1')
    expect(calls).toHaveLength(1_001)
    await authorize('token 0')
    expect(calls.at(-1)).toBe('token 0')
  })
})
