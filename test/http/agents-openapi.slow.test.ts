import { beforeAll, describe, expect, it } from 'vitest'
import { type Lifecycle, newLifecycle } from './lifecycle/lifecycle-client.ts'

let org: Lifecycle
beforeAll(async () => {
  org = await newLifecycle()
})

describe('GET /v1/agents/openapi.json', () => {
  it('describes the published agents that the token sees, or one of them', async () => {
    await org.publishSaying('first', 'A')
    await org.publishSaying('second', 'B')
    await org.publishSaying('third', 'C', { draft: true })
    const all = await org.call('GET', '/v1/agents/openapi.json')
    expect(all.status).toBe(200)
    expect(Object.keys(all.json.paths).toSorted()).toEqual([
      '/v1/agents/first/executions',
      '/v1/agents/second/executions',
    ])
    expect(all.json.servers).toEqual([{ url: '/' }])
    const one = await org.call('GET', '/v1/agents/first/openapi.json')
    expect(Object.keys(one.json.paths)).toEqual(['/v1/agents/first/executions'])
    expect((await org.call('GET', '/v1/agents/frist/openapi.json')).json).toMatchObject({
      code: 'AgentNotFound',
      detail: expect.stringContaining('first'),
    })
  })
})
