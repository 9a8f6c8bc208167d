import type { APIGatewayAuthorizerResult, APIGatewayTokenAuthorizerEvent } from 'aws-lambda'
import { describe, expect, it } from 'vitest'
import { cacheAuthorizer } from '../../local/authorizer-cache.ts'

const eventOf = (authorizationToken: string): APIGatewayTokenAuthorizerEvent => ({
  type: 'TOKEN',
  methodArn: 'arn',
  authorizationToken,
})

/** An authorizer that counts, refuses the token `bad`, and a clock that stands still. */
function counted() {
  const asked: string[] = []
  const clock = { now: 0 }
  const authorizer = cacheAuthorizer(
    async ({ authorizationToken: token }) => {
      asked.push(token)
      if (token === 'bad') throw new Error('Unauthorized')
      return { principalId: token } as APIGatewayAuthorizerResult
    },
    () => clock.now,
  )
  return { asked, clock, ask: (token: string) => authorizer(eventOf(token)) }
}

describe('cacheAuthorizer', () => {
  it('asks once for a token in a quarter of a second, also when all ask at once', async () => {
    const { asked, clock, ask } = counted()
    const answers = await Promise.all([ask('a'), ask('a'), ask('b')])
    clock.now = 249
    answers.push(await ask('a'))
    expect(answers.map(({ principalId }) => principalId)).toEqual(['a', 'a', 'b', 'a'])
    expect(asked).toEqual(['a', 'b'])
    clock.now = 250
    await ask('a')
    expect(asked).toEqual(['a', 'b', 'a'])
  })

  it('asks again for what was refused', async () => {
    const { asked, ask } = counted()
    await expect(ask('bad')).rejects.toThrow('Unauthorized')
    await expect(ask('bad')).rejects.toThrow('Unauthorized')
    expect(asked).toEqual(['bad', 'bad'])
  })

  it('forgets rather than grow without end', async () => {
    const { asked, ask } = counted()
    for (let i = 0; i < 1_001; i++) await ask(`token ${i}`)
    await ask('token 0')
    expect(asked.at(-1)).toBe('token 0')
  })
})
