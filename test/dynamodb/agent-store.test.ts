import { randomBytes, randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, inject, it } from 'vitest'
import type { Agent, Version, VersionStatus } from '../../lib/core/agent.ts'
import type { Json, JsonObject } from '../../lib/core/json/json.ts'
import { MAX_PAGE_BYTES } from '../../lib/core/limits.ts'
import { agentStore } from '../../lib/dynamodb/agent-store.ts'
import { system } from '../../lib/system.ts'
import { propertyRuns } from '../support/data/property-runs.ts'
import { EMULATORS, expectPages, race, readPages, tableOn } from '../support/tables/emulators.ts'
import { itemsIn } from '../support/tables/items-in.ts'

/** A version with times in the order in which they are made. */
let clock = Date.UTC(2027, 0, 1)
function aVersion(overrides: Partial<Version> = {}): Version {
  clock += 1_000
  return {
    id: system.newId(),
    // Derived from the slug in production: its order is not that of time.
    agentId: randomUUID(),
    organizationId: system.newId(),
    slug: 'summarize',
    status: 'PUBLISHED',
    title: 'Summarize',
    description: 'Summarizes a text.',
    createdAt: new Date(clock).toISOString(),
    createdBy: system.newId(),
    inputSchema: { text: { type: 'string', description: 'The text.' } },
    outputSchema: { summary: { type: 'string', description: 'Its summary.' } },
    model: 'openai/gpt-5',
    tools: [
      { name: 'search', description: 'Searches.', input: {}, http: { method: 'GET', url: 'a.example' } },
    ],
    code: false,
    env: [],
    instructions: 'Summarize.',
    execution: { useCache: true, cacheTtlSeconds: 60, maxAgentSteps: 10, timeoutSeconds: 30 },
    digest: 'd',
    documentHash: 'h',
    ...overrides,
  }
}

/** The agent of a version that is the only one of it. */
function agentOf(version: Version): Agent {
  const { agentId: id, organizationId, slug, title, description, createdAt, createdBy } = version
  const { inputSchema, outputSchema, status } = version
  const isDraft = status === 'DRAFT'
  return {
    ...{ id, organizationId, slug, title, description, createdAt, createdBy, updatedAt: createdAt },
    ...{ inputSchema, outputSchema },
    current: isDraft ? null : version,
    draftVersionId: isDraft ? version.id : null,
    promotion: isDraft ? null : { at: createdAt, by: createdBy },
    archivedAt: null,
    syncAt: null,
    retired: {},
    rollout: null,
    abortedRollouts: {},
  }
}

describe.each(EMULATORS)('agentStore on %s', (emulator) => {
  const table = tableOn(emulator)
  const store = agentStore(table)
  const publish = async (overrides: Partial<Version> = {}, code: string | null = null) => {
    const version = aVersion(overrides)
    await store.publish({ version, code })
    return version
  }
  /** Another version of the same agent. */
  const publishNext = ({ agentId, organizationId, slug }: Version, overrides: Partial<Version> = {}) =>
    publish({ agentId, organizationId, slug, ...overrides })
  const getAgent = ({ organizationId, agentId: id }: Version) => store.get({ organizationId, id })

  describe('publish', () => {
    it.each([
      ['a version', { description: null, model: null, tools: [] }],
      [
        'a version with all that is optional',
        {
          ...{ documentHash: 'd', codeHash: 'c', message: 'Why.', requireTools: true },
          ...{
            context: { window: 200_000, keep: 5 },
            scorers: [{ agent: 'faithful', min: 0.7, sample: 5 }],
            modelSettings: { maxOutputTokens: 500, temperature: 0.5 },
          },
        },
      ],
      ['a draft', { status: 'DRAFT' }],
    ] as const)('creates the agent of %s', async (_, overrides) => {
      const version = await publish(overrides as Partial<Version>)
      expect(await getAgent(version)).toEqual(agentOf(version))
      expect(await store.getVersion(version)).toEqual(version)
    })

    it.each([
      ['version', { status: 'PUBLISHED' }],
      ['draft, and ends it', { status: 'DRAFT', title: 'Draft' }],
    ] as const)(
      'makes a version current after a %s, and keeps who created the agent when',
      async (_, given) => {
        const first = await publish(given)
        const second = await publishNext(first, { title: 'Other', description: null, outputSchema: {} })
        const { createdAt, createdBy } = first
        expect(await getAgent(first)).toEqual({ ...agentOf(second), createdAt, createdBy })
        expect(await store.getVersion(first)).toEqual(first)
      },
    )

    it('leaves the current version and what the agent shows of it to a draft', async () => {
      const first = await publish()
      const draft = await publishNext(first, { status: 'DRAFT', title: 'Draft', inputSchema: {} })
      const { createdAt: updatedAt, id: draftVersionId } = draft
      expect(await getAgent(first)).toEqual({ ...agentOf(first), updatedAt, draftVersionId })
    })

    it('keeps schemas and tools as they are declared', async () => {
      const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as JsonObject
      const object = fc.object({ maxDepth: 2 }).map(plain)
      const declared = [object, object, fc.array(fc.jsonValue())] as const
      const property = fc.asyncProperty(...declared, async (inputSchema, outputSchema, tools) => {
        const version = await publish({ inputSchema, outputSchema, tools: tools as Json[] })
        expect(JSON.stringify(await store.getVersion(version))).toBe(JSON.stringify(version))
      })
      await fc.assert(property, { numRuns: propertyRuns(50) })
    })

    it('keeps many versions that are published at once, and makes one current', async () => {
      const first = await publish()
      const { organizationId, agentId } = first
      const versions = await race((n) => publishNext(first, { title: `Racer ${n}`, digest: `${n}` }))
      const agent = await getAgent(first)
      const current = versions.find(({ id }) => id === agent?.current?.id)
      expect(agent).toMatchObject({ current, title: current?.title, updatedAt: current?.createdAt })
      const { items } = await store.listVersions({ organizationId, agentId, limit: 100, after: null })
      expect(new Set(items.map(({ id }) => id))).toEqual(new Set([first, ...versions].map(({ id }) => id)))
    })
  })

  describe('publish with replaces', () => {
    it('publishes only over the version, or the draft, that it names', async () => {
      const first = await publish()
      const { organizationId, agentId, slug } = first
      const next = (overrides: Partial<Version>) => aVersion({ organizationId, agentId, slug, ...overrides })
      const [second, draft] = [next({}), next({ status: 'DRAFT' })]
      const replace = (version: Version, replaces: string | null) =>
        store.publish({ version, code: null, replaces })
      expect([await replace(second, null), await replace(second, draft.id)]).toEqual([false, false])
      expect((await getAgent(first))?.current?.id).toBe(first.id)
      // Also its own repetition, as after a response that was lost.
      expect([await replace(second, first.id), await replace(second, first.id)]).toEqual([true, true])
      expect(await replace(draft, null)).toBe(true)
      expect(await replace(next({ status: 'DRAFT' }), null)).toBe(false)
      expect(await getAgent(first)).toMatchObject({ current: { id: second.id }, draftVersionId: draft.id })
    })

    it('creates an agent once', async () => {
      const first = aVersion()
      const publishAs = (id: string) =>
        store.publish({ version: { ...first, id }, code: null, replaces: null })
      expect((await race(() => publishAs(system.newId()))).filter(Boolean)).toHaveLength(1)
    })
  })

  describe('promote', () => {
    const promotedAt = '2027-02-01T00:00:00.000Z'
    const promotion = { at: promotedAt, by: 'author' }
    const promote = async (version: Version, draftVersionId: string | null = null) => {
      const { organizationId, agentId, id } = version
      const current = (await getAgent(version))?.current ?? null
      return store.promote({ organizationId, agentId, id, draftVersionId, current, promotion, syncAt: 1 })
    }

    it('makes an older version current, with what the agent shows of it', async () => {
      const first = await publish({ title: 'First', description: null })
      const second = await publishNext(first)
      const agent = await promote(first)
      const { createdAt, createdBy } = first
      const expected = { ...agentOf(first), createdAt, createdBy, promotion, updatedAt: promotedAt }
      expect(agent).toEqual(expected)
      expect(await getAgent(first)).toEqual(expected)
      const promoted = { at: second.createdAt, by: second.createdBy }
      expect(await store.getVersion(second)).toEqual({ ...second, promotion: promoted })
    })

    it('takes one conditional write of the agent to go back, after one that keeps who promoted the other version', async () => {
      const { organizationId, agentId, id } = await publish()
      const current = await publishNext({ ...aVersion(), organizationId, agentId })
      const writes: Parameters<typeof table.update>[] = []
      const forbidden = () => Promise.reject(new Error('A rollback puts no item.'))
      const update: typeof table.update = (...write) => {
        writes.push(write)
        return table.update(...write)
      }
      const counting = agentStore({ ...table, put: forbidden, writeMany: forbidden, update })
      const version = { organizationId, agentId, id, draftVersionId: null, current }
      const agent = await counting.promote({ ...version, promotion, syncAt: 1 })
      expect(agent?.current?.id).toBe(id)
      expect(writes).toMatchObject([
        [{ sk: `VERSION#${current.id}` }, { set: { promotion: { by: current.createdBy } } }],
        [{ sk: 'AGENT' }, { condition: { expression: expect.any(String) } }],
      ])
    })

    it('publishes a draft under its id', async () => {
      const first = await publish()
      const draft = await publishNext(first, { status: 'DRAFT' })
      const published = { ...draft, status: 'PUBLISHED', neverReplaced: true }
      expect(await promote(draft, draft.id)).toMatchObject({ current: published, draftVersionId: null })
      expect(await store.getVersion(draft)).toEqual(published)
    })

    it('tells a version that was current from one that never was', async () => {
      const first = await publish({ neverReplaced: true })
      const isReplaced = async (version: Version) => !(await store.getVersion(version))?.neverReplaced
      const { agentId, organizationId, slug } = first
      const second = { ...aVersion(), agentId, organizationId, slug, neverReplaced: true as const }
      expect(await store.publish({ version: second, code: null, replaces: first.id })).toBe(true)
      const lost = await publishNext(first, { status: 'DRAFT' })
      const won = await publishNext(first, { status: 'DRAFT' })
      expect(await promote(lost)).toBeNull()
      expect(await store.getVersion(lost)).toMatchObject({ status: 'PUBLISHED', neverReplaced: true })
      // The version that it would have replaced was current, whatever has become of the promotion.
      expect(await Promise.all([first, second, lost].map(isReplaced))).toEqual([true, true, false])
      expect(await promote(won, won.id)).not.toBeNull()
      expect(await promote(first)).not.toBeNull()
      expect(await Promise.all([first, second, won, lost].map(isReplaced))).toEqual([true, true, true, false])
    })

    it('changes nothing if the draft is another one by now, if the agent is archived, or for an unknown version', async () => {
      const first = await publish()
      const second = await publishNext(first)
      const draft = await publishNext(first, { status: 'DRAFT' })
      expect(await promote(first)).toBeNull()
      expect(await promote(first, second.id)).toBeNull()
      expect(await promote({ ...first, id: system.newId() }, draft.id)).toBeNull()
      expect(await promote({ ...first, organizationId: system.newId() }, draft.id)).toBeNull()
      const archivedAt = '2027-02-02T00:00:00.000Z'
      await store.setArchived({ organizationId: first.organizationId, id: first.agentId, archivedAt })
      expect(await promote(first, draft.id)).toBeNull()
      expect((await getAgent(first))?.current).toEqual(second)
    })
  })

  describe('deleteVersion', () => {
    const remove = (version: Version, status: VersionStatus = 'DRAFT') =>
      store.deleteVersion({ ...version, status })
    const itemsOf = async ({ agentId }: Version) =>
      (await itemsIn(table, `AGENT#${agentId}`)).map(({ sk }) => sk)

    it('deletes a draft with its code, and the reference of the agent', async () => {
      const first = await publish()
      const code = `// ${randomBytes(700_000).toString('base64')}`
      const draft = await publish({ ...first, id: system.newId(), status: 'DRAFT', code: true }, code)
      expect(await remove(draft)).toBe('deleted')
      expect(await itemsOf(first)).toEqual(['AGENT', `VERSION#${first.id}`])
      expect(await getAgent(first)).toMatchObject({ draftVersionId: null, current: first })
      expect(await remove(draft)).toBe('missing')
    })

    it('deletes nothing with another status, or of another organization', async () => {
      const version = await publish()
      expect(await remove(version)).toBe('other')
      expect(await remove({ ...version, organizationId: system.newId() }, 'PUBLISHED')).toBe('missing')
      expect(await store.getVersion(version)).toEqual(version)
    })

    it('is completed by the next one after an interruption; until then nobody sees the draft', async () => {
      const first = await publish()
      const draft = await publish({ ...first, id: system.newId(), status: 'DRAFT', code: true }, '// code')
      const dying = agentStore({ ...table, writeMany: () => Promise.reject(new Error('died')) })
      await expect(dying.deleteVersion({ ...draft, status: 'DRAFT' })).rejects.toThrow('died')
      expect(await itemsOf(first)).toHaveLength(4)
      const { organizationId, agentId } = first
      const { items } = await store.listVersions({ organizationId, agentId, limit: 10, after: null })
      expect([await store.getVersion(draft), items]).toEqual([null, [first]])
      const promotion = { at: first.createdAt, by: 'author' }
      const promoted = { organizationId, agentId, id: draft.id, draftVersionId: null, current: first }
      expect(await store.promote({ ...promoted, promotion, syncAt: 1 })).toBeNull()
      expect(await remove(draft)).toBe('deleted')
      expect(await itemsOf(first)).toHaveLength(2)
    })
  })

  describe('setArchived', () => {
    it('hides an agent of the organization from lists, and keeps the first time', async () => {
      const version = await publish()
      const { organizationId, agentId: id } = version
      const page = { organizationId, limit: 10, after: null }
      const archivedAt = '2027-02-01T00:00:00.000Z'
      const archived = { ...agentOf(version), archivedAt }
      expect(await store.setArchived({ organizationId: system.newId(), id, archivedAt })).toBeNull()
      expect(await getAgent(version)).toEqual(agentOf(version))
      expect(await store.setArchived({ organizationId, id, archivedAt })).toEqual(archived)
      const later = '2027-03-01T00:00:00.000Z'
      expect(await store.setArchived({ organizationId, id, archivedAt: later })).toEqual(archived)
      for (const agentIds of [null, [id]]) {
        expect((await store.list({ ...page, agentIds })).items).toEqual([])
        expect((await store.list({ ...page, agentIds, archived: true })).items).toEqual([archived])
      }
      const next = aVersion({ organizationId, agentId: id, slug: version.slug })
      expect(await store.publish({ version: next, code: null })).toBe(false)
      expect(await store.setArchived({ organizationId, id, archivedAt: null })).toEqual(agentOf(version))
      expect((await store.list(page)).items).toHaveLength(1)
    })

    it('continues a list behind archived agents', async () => {
      const organizationId = system.newId()
      const versions: Version[] = []
      for (let i = 0; i < 10; i++) versions.push(await publish({ organizationId, slug: `agent-${i}` }))
      for (const { agentId: id } of versions.slice(2))
        await store.setArchived({ organizationId, id, archivedAt: '2027-02-01T00:00:00.000Z' })
      const { items } = await readPages((page) => store.list({ organizationId, ...page }), 3)
      expect(items).toEqual(versions.slice(0, 2).map(agentOf).toReversed())
    })
  })

  describe('setRetired', () => {
    const retiredAt = '2027-02-01T00:00:00.000Z'
    const setRetired = ({ organizationId, agentId, id }: Version, at: string | null = retiredAt) =>
      store.setRetired({ organizationId, agentId, id, retiredAt: at })

    it('retires versions of an agent, keeps the first time, and excludes them from promotions', async () => {
      const [first, second, current] = await publishThree()
      const later = '2027-03-01T00:00:00.000Z'
      expect((await setRetired(first))?.retired).toEqual({ [first.id]: retiredAt })
      const both = { [first.id]: retiredAt, [second.id]: later }
      for (const version of [second, first]) expect((await setRetired(version, later))?.retired).toEqual(both)
      const { organizationId, agentId } = first
      const read = { draftVersionId: null, current }
      const promotion = { organizationId, agentId, ...read, syncAt: 1, promotion: { at: retiredAt, by: 'a' } }
      expect(await store.promote({ ...promotion, id: first.id })).toBeNull()
      expect((await setRetired(first, null))?.retired).toEqual({ [second.id]: later })
      expect(await store.promote({ ...promotion, id: first.id })).toMatchObject({ current: first })
      expect(await setRetired(current)).toMatchObject({ retired: { [current.id]: retiredAt } })
    })

    it('changes nothing for the current version, nor for an agent that does not exist or is of another organization', async () => {
      const [first, , current] = await publishThree()
      expect(await setRetired(current)).toBeNull()
      expect(await setRetired({ ...first, organizationId: system.newId() })).toBeNull()
      expect(await setRetired({ ...first, agentId: randomUUID() })).toBeNull()
      expect((await getAgent(first))?.retired).toEqual({})
    })

    async function publishThree(): Promise<[Version, Version, Version]> {
      const first = await publish()
      return [first, await publishNext(first), await publishNext(first)]
    }
  })

  it('get and getVersion return null for what is unknown, or of another agent or organization', async () => {
    const version = await publish()
    const other = await publish({ organizationId: version.organizationId })
    expect(await getAgent({ ...version, organizationId: system.newId() })).toBeNull()
    expect(await getAgent({ ...version, agentId: system.newId() })).toBeNull()
    expect(await store.getVersion({ ...version, organizationId: system.newId() })).toBeNull()
    expect(await store.getVersion({ ...version, agentId: other.agentId })).toBeNull()
    expect(await store.getVersion({ ...version, id: system.newId() })).toBeNull()
  })

  it.each([
    ['that is short', 'export default () => ({})'],
    ['that is longer than an item', `// ${randomBytes(700_000).toString('base64')}`],
    ['that is empty', ''],
    ['of none', null],
  ])('getCode returns code %s, of each version its own', async (_, code) => {
    const first = await publish({ code: code !== null }, code)
    const second = await publish({ ...first, id: system.newId() }, 'export default 2')
    const codeOf = ({ agentId, id: versionId }: Version) => store.getCode({ agentId, versionId })
    expect(await codeOf(first)).toBe(code)
    expect(await codeOf(second)).toBe('export default 2')
    expect(await codeOf({ ...first, id: system.newId() })).toBeNull()
  })

  describe('list', () => {
    it('returns the agents of the organization, newest first', async () => {
      const organizationId = system.newId()
      const versions: Version[] = []
      for (let i = 0; i < 7; i++) versions.unshift(await publish({ organizationId, slug: `agent-${i}` }))
      await publish()
      await expectPages((page) => store.list({ organizationId, ...page }), versions.map(agentOf))
    })

    it('keeps the place of an agent that gets another version', async () => {
      const first = await publish()
      const { organizationId } = first
      const second = await publish({ organizationId })
      await publishNext(first, { title: 'Changed' })
      const { items } = await store.list({ organizationId, limit: 10, after: null })
      expect(items.map(({ id }) => id)).toEqual([second.agentId, first.agentId])
      expect(items[1]?.title).toBe('Changed')
    })
  })

  describe('listVersions', () => {
    it('returns versions and drafts, newest first', async () => {
      const first = await publish()
      const { organizationId, agentId } = first
      const versions = [first]
      for (let i = 0; i < 6; i++)
        versions.unshift(await publishNext(first, { status: i % 3 === 0 ? 'DRAFT' : 'PUBLISHED' }))
      await publish({ organizationId })
      await expectPages((page) => store.listVersions({ organizationId, agentId, ...page }), versions)
    })

    it('is empty for an unknown agent, and for that of another organization', async () => {
      const { agentId, organizationId } = await publish()
      const page = { limit: 10, after: null }
      const empty = { items: [], next: null }
      expect(await store.listVersions({ organizationId: system.newId(), agentId, ...page })).toEqual(empty)
      expect(await store.listVersions({ organizationId, agentId: system.newId(), ...page })).toEqual(empty)
    })
  })

  const lists = [
    ['list', '漢'],
    ['listVersions', 'x'],
    ['list', 'x'],
    ['listVersions', '漢'],
  ] as const
  it.each(inject('isNightly') ? lists : lists.slice(0, 2))(
    '%s ends a page before it exceeds what a response can carry, with descriptions of %s',
    async (method, character) => {
      const description = character.repeat(180_000 / Buffer.byteLength(character))
      const first = aVersion({ inputSchema: { text: { type: 'string', description } } })
      const count = Math.ceil(MAX_PAGE_BYTES / Buffer.byteLength(description)) + 1
      const versions = Array.from({ length: count }, (): Version => {
        const agentId = method === 'list' ? randomUUID() : first.agentId
        return { ...first, id: system.newId(), agentId }
      })
      for (const version of versions) await store.publish({ version, code: null })
      const { organizationId, agentId } = first
      const { items, pages } = await readPages<Agent | Version>(async (page) => {
        const read = await (method === 'list'
          ? store.list({ organizationId, ...page })
          : store.listVersions({ organizationId, agentId, ...page }))
        const bytes = Buffer.byteLength(JSON.stringify(read.items.map(({ inputSchema }) => inputSchema)))
        expect(bytes).toBeLessThan(MAX_PAGE_BYTES)
        return read
      }, 100)
      expect(pages).toBeGreaterThan(1)
      const idOf = (version: Version) => (method === 'list' ? version.agentId : version.id)
      expect(new Set(items.map(({ id }) => id))).toEqual(new Set(versions.map(idOf)))
      expect(items).toHaveLength(count)
    },
  )
})
