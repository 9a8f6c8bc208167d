import { describe, expect, it, vi } from 'vitest'
import { type PublishableAgent, publishAgent } from '../../lib/agents/lifecycle/publish-agent.ts'
import { resolveVersion } from '../../lib/agents/resolve-version.ts'
import type { Version } from '../../lib/core/agent.ts'
import type { AgentStore } from '../../lib/core/ports/agents.ts'
import { AgentNotFound, VersionNotFound } from '../../lib/core/resource-errors.ts'
import { agentStore } from '../../lib/dynamodb/agent-store.ts'
import { system } from '../../lib/system.ts'
import { countReads } from '../support/engine/count-reads.ts'
import { newOrganization, sharedTable } from '../support/engine/organization.ts'

async function resolve(store: AgentStore, { organizationId, slug }: Version, versionId?: string) {
  return (await resolveVersion({ store, organizationId, idOrSlug: slug, versionId, run: null })).version
}

/** Another version of the agent, as this process publishes it. */
async function publishAgain(store: AgentStore, version: Version, draft = false): Promise<Version> {
  const { organizationId, createdBy } = version
  const title = system.newId()
  const document = { ...version, title, input: version.inputSchema, output: version.outputSchema, tools: [] }
  const agent = { document, code: 'export default () => ({})' } as unknown as PublishableAgent
  return (await publishAgent({ store, system, organizationId, createdBy, agent, draft })).version
}

/** A version, and the store of a process whose reads are counted. */
const published = async () => ({
  version: await (await newOrganization()).publish('echo'),
  ...countReads(agentStore(sharedTable())),
})
const soon = { timeout: 10_000, interval: 20 }

describe('resolveVersion', () => {
  it('reads the current version once for many runs', async () => {
    const { version, store, reads } = await published()
    await vi.waitFor(async () => {
      const before = reads.get
      await resolve(store, version)
      for (let n = 0; n < 20; n++) expect((await resolve(store, version)).id).toBe(version.id)
      expect(reads.get - before).toBeLessThanOrEqual(1)
    })
  })

  it('sees a publish by this process at once, and one by another process within a second', async () => {
    const { version, store } = await published()
    await resolve(store, version)
    const second = await publishAgain(store, version)
    expect((await resolve(store, version)).id).toBe(second.id)
    const third = { ...second, id: system.newId() }
    await store.publish({ version: third, code: null })
    await vi.waitFor(async () => expect((await resolve(store, version)).id).toBe(third.id), soon)
  })

  it('sees a retirement by another process within a second, and does not read more for it', async () => {
    const { version, store, reads } = await published()
    const { organizationId, agentId, id, slug } = version
    await publishAgain(store, version)
    const isRetired = async () =>
      (await resolveVersion({ store, organizationId, idOrSlug: slug, versionId: id, run: null })).isRetired
    expect(await isRetired()).toBe(false)
    for (const retiredAt of [new Date().toISOString(), null]) {
      await store.setRetired({ organizationId, agentId, id, retiredAt })
      await vi.waitFor(async () => expect(await isRetired()).toBe(retiredAt !== null), soon)
    }
    expect(reads.getVersion).toBeLessThanOrEqual(1)
  })

  it('caches published versions by id, but no drafts', async () => {
    const { version, store, reads } = await published()
    const draft = await publishAgain(store, version, true)
    for (const id of [version.id, version.id, version.id]) await resolve(store, version, id)
    expect(reads.getVersion).toBeLessThanOrEqual(1)
    const before = reads.getVersion
    for (const id of [draft.id, draft.id, draft.id]) await resolve(store, version, id)
    expect(reads.getVersion - before).toBe(3)
  })

  it('does not cache what was not found', async () => {
    const { version, store } = await published()
    const other = { ...version, slug: 'not-there' }
    await expect(resolve(store, other)).rejects.toThrow(AgentNotFound)
    const id = system.newId()
    await expect(resolve(store, version, id)).rejects.toThrow(VersionNotFound)
    await store.publish({ version: { ...version, id }, code: null })
    expect((await resolve(store, version, id)).id).toBe(id)
  })

  it('never returns a cached version to another organization', async () => {
    const { version, store } = await published()
    await resolve(store, version)
    await resolve(store, version, version.id)
    const { id: organizationId } = await newOrganization()
    const asOther = (versionId?: string) =>
      resolveVersion({ store, organizationId, idOrSlug: version.agentId, versionId, run: null })
    await expect(asOther()).rejects.toThrow(AgentNotFound)
    await expect(asOther(version.id)).rejects.toThrow(AgentNotFound)
  })
})
