import { describe, expect, it } from 'vitest'
import { UNLIMITED } from '../../lib/core/access.ts'
import { LARGE_BODY_BYTES, MAX_PAYLOAD_BYTES } from '../../lib/core/limits.ts'
import type { RateStore } from '../../lib/core/ports/access.ts'
import { accessControl } from '../../lib/http/access-control.ts'
import { toAuthorizerContext } from '../../lib/http/authorizer-context.ts'
import type { ServiceEvent } from '../../lib/http/event.ts'
import { system } from '../../lib/system.ts'

/** A store whose counters begin at `sum`, and what was added to them. */
function counting(sum = 0) {
  const added: number[] = []
  const rates: RateStore = {
    count: () => Promise.reject(new Error('No request of this test has a rate.')),
    countProcess: () => Promise.reject(new Error('No request of this test stays open.')),
    addBytes: async ({ bytes }) => {
      added.push(bytes)
      return sum + added.reduce((total, each) => total + each, 0)
    },
  }
  const { before } = accessControl({ scope: 'run', body: 'Input' }, rates) as {
    before: (request: { event: ServiceEvent }) => Promise<void>
  }
  const access = { ...UNLIMITED, organizationId: system.newId(), tokenId: system.newId() }
  const requestContext = { authorizer: toAuthorizerContext(access) }
  const send = (body: string | null, isBase64Encoded = false) =>
    before({ event: { body, isBase64Encoded, requestContext } as unknown as ServiceEvent })
  return { added, send }
}

describe('accessControl, for large bodies', () => {
  it('makes no request for small bodies, and none for those that are too large to be accepted', async () => {
    const { added, send } = counting(1e12)
    await send(null)
    await send('x'.repeat(LARGE_BODY_BYTES))
    await send('ä'.repeat(LARGE_BODY_BYTES / 2))
    await send(Buffer.alloc(LARGE_BODY_BYTES).toString('base64'), true)
    await send('x'.repeat(MAX_PAYLOAD_BYTES + 1))
    expect(added).toEqual([])
  })

  it('counts the bytes of others, however they are encoded', async () => {
    const { added, send } = counting()
    await send('x'.repeat(LARGE_BODY_BYTES + 1))
    await send('ä'.repeat(LARGE_BODY_BYTES / 2 + 1))
    await send(Buffer.alloc(LARGE_BODY_BYTES + 3).toString('base64'), true)
    expect(added).toEqual([1, 2, 3].map((more) => LARGE_BODY_BYTES + more))
  })

  it('makes no further request in a minute that is used up', async () => {
    const { added, send } = counting(60_000_000)
    const error = { code: 'TooManyRequests', status: 429 }
    for (let n = 0; n < 50; n++) await expect(send('x'.repeat(1_000_000))).rejects.toMatchObject(error)
    // Two, if a minute has begun in between.
    expect(added.length).toBeLessThanOrEqual(2)
  })
})
