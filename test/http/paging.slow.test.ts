import { describe, expect, it, vi } from 'vitest'
import type { Version } from '../../lib/core/agent.ts'
import { cachedExecution, newExecution } from '../../lib/core/execution.ts'
import { executionStore } from '../../lib/dynamodb/executions/execution-store.ts'
import { system } from '../../lib/system.ts'
import { runOptions } from '../support/engine/executions.ts'
import { newOrganization, sharedTable } from '../support/engine/organization.ts'
import { type ApiClient, getExecutionId, getNextLink } from '../support/service/client.ts'

const OPTIONS = runOptions({ maxAgentSteps: 1 })

/** Follows the `next` links to the last page. */
async function* pages(call: ApiClient, path: string) {
  for (let next: string | undefined = path; next; ) {
    const response = await call('GET', next)
    expect(response.status).toBe(200)
    yield response.json as { id: string; status: string }[]
    next = getNextLink(response)
  }
}

const idsOf = (list: { id: string }[]) => list.map(({ id }) => id)

const EXECUTIONS = 1_000

describe('paging', () => {
  it(`returns each of ${EXECUTIONS} executions once, newest first, while others are created`, async () => {
    const org = await newOrganization()
    const { agentId, id: versionId } = await org.publish('echo')
    const run = async () => getExecutionId(await org.run('echo', { text: 'x' }))
    const executions = executionStore(sharedTable())
    const create = async () => {
      const id = system.newId()
      const params = {
        id,
        organizationId: org.id,
        agentId,
        versionId,
        tenantId: null,
        input: {},
        options: OPTIONS,
      }
      const execution = cachedExecution({ ...params, now: Date.now(), deadlineMs: 1000 }, system.newId(), {})
      expect(await executions.create({ execution })).toBe(true)
      return id
    }
    const before: string[] = []
    while (before.length < EXECUTIONS) before.push(...(await Promise.all(Array.from({ length: 20 }, create))))

    const added: string[] = []
    let isDone = false
    const adding = (async () => {
      while (!isDone) added.push(await run())
    })()
    const seen: string[] = []
    const sizes: number[] = []
    for await (const page of pages(org.call, '/v1/agent_executions?limit=50')) {
      sizes.push(page.length)
      seen.push(...idsOf(page))
      const before = added.length
      await vi.waitFor(() => expect(added.length).toBeGreaterThan(before), { interval: 1 })
    }
    isDone = true
    await adding

    expect(added.length).toBeGreaterThanOrEqual(sizes.length)
    expect(seen).toEqual([...seen].sort().reverse())
    expect(new Set(seen).size).toBe(seen.length)
    const old = new Set(before)
    expect(seen.filter((id) => old.has(id)).sort()).toEqual(before.sort())
    expect(seen.every((id) => old.has(id) || added.includes(id))).toBe(true)
    expect(sizes.slice(0, -1).every((size) => size === 50)).toBe(true)

    const byAgent: string[] = []
    for await (const page of pages(org.call, `/v1/documents/${agentId}/executions/?limit=100`))
      byAgent.push(...idsOf(page))
    expect(byAgent.sort()).toEqual([...before, ...added].sort())
  })

  it('keeps the filters in the link and finds rare matches', async () => {
    const org = await newOrganization()
    const { agentId, id: versionId } = await org.publish('echo')
    const executions = executionStore(sharedTable())
    const base = { organizationId: org.id, agentId, versionId, input: {}, deadlineMs: 1000, lease: null }
    const options = OPTIONS
    const ids: string[] = []
    for (let i = 0; i < 2 * EXECUTIONS; i++) {
      const id = system.newId()
      const tenantId = i % 20 === 0 ? 'rare' : 'usual'
      if (tenantId === 'rare') ids.push(id)
      await executions.create({
        execution: newExecution({ ...base, id, tenantId, options, now: Date.now() }),
      })
    }
    const seen: string[] = []
    for await (const page of pages(
      org.call,
      '/v1/agent_executions?limit=4&tenantId=rare&status=IN_PROGRESS',
    )) {
      expect(page.length).toBeLessThanOrEqual(4)
      seen.push(...idsOf(page))
    }
    expect(seen).toEqual(ids.reverse())
  })

  it('pages through agents and versions', async () => {
    const org = await newOrganization()
    for (const slug of ['echo', 'failing', 'wait']) await org.publish(slug)
    const versions: Version[] = []
    for (const title of ['A', 'B', 'C']) versions.push(await org.publish('echo', { title }))
    const slugs: string[] = []
    for await (const page of pages(org.call, '/v1/agents/?limit=1')) {
      expect(page).toHaveLength(1)
      slugs.push(...page.map((agent) => (agent as unknown as { slug: string }).slug))
    }
    expect(slugs).toEqual(['wait', 'failing', 'echo'])
    const ids: string[] = []
    for await (const page of pages(org.call, '/v1/agents/echo/versions?limit=1')) ids.push(...idsOf(page))
    expect(ids).toHaveLength(4)
    expect(ids.slice(0, 3)).toEqual(idsOf(versions).reverse())
  })

  it('returns no link if the last page is full', async () => {
    const org = await newOrganization()
    await org.publish('echo')
    for (let i = 0; i < 10; i++) await org.run('echo', { text: 'x' })
    const response = await org.call('GET', '/v1/agent_executions?limit=10')
    expect(response.json).toHaveLength(10)
    expect(response.headers.get('link')).toBeNull()
    expect((await org.call('GET', '/v1/agent_executions?limit=9')).headers.get('link')).not.toBeNull()
  })
})
