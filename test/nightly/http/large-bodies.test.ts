import { beforeAll, describe, expect, it } from 'vitest'
import { newOrganization, type TestOrganization } from '../../support/engine/organization.ts'

describe('a request with a large body', () => {
  let org: TestOrganization
  let other: TestOrganization
  beforeAll(async () => {
    org = await newOrganization()
    other = await newOrganization()
  })

  it.each([
    ['POST', '/v1/agents/none/executions?execMode=async'],
    ['PUT', '/v1/agent_executions/none/feedback'],
    ['POST', '/v1/mcp'],
  ])('is 429 once its organization has sent too many in a minute: %s %s', async (method, path) => {
    const body = { text: 'x'.repeat(5_900_000) }
    const send = (by: TestOrganization, text = body.text) => by.call(method, path, { body: { text } })
    const statuses: number[] = []
    for (let n = 0; n < 30 && statuses.at(-1) !== 429; n++) statuses.push((await send(org)).status)
    // At most twice, if a minute has begun in between.
    expect(statuses.filter((status) => status !== 429).length).toBeLessThanOrEqual(20)
    const limited = await send(org)
    if (limited.status === 429) {
      expect(limited.json).toMatchObject({ code: 'TooManyRequests' })
      expect(limited.json.detail).toContain('60 MB per minute in request bodies of more than 256 kB')
      expect(Number(limited.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
      expect(Number(limited.headers.get('retry-after'))).toBeLessThanOrEqual(60)
    }
    expect(statuses.at(-1)).toBe(429)
    expect((await send(org, 'small')).status).not.toBe(429)
    expect((await send(other)).status).not.toBe(429)
  })
})
