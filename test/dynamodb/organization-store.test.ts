import { beforeAll, describe, expect, inject, it } from 'vitest'
import type { Organization } from '../../lib/core/agent.ts'
import { organizationStore } from '../../lib/dynamodb/access-stores.ts'
import { system } from '../../lib/system.ts'
import { provisionTable } from '../../local/emulators/provision.ts'
import { EMULATORS, race, readPages, tableOn } from '../support/tables/emulators.ts'

const anOrganization = (name = 'Example Ltd'): Organization => ({
  id: system.newId(),
  name,
  createdAt: new Date().toISOString(),
})

describe.each(EMULATORS)('organizationStore on %s', (emulator) => {
  // A separate table: `list` returns all organizations of a table.
  const name = `contract-${system.newId()}`
  beforeAll(() => provisionTable(inject(emulator), name))
  const store = organizationStore(tableOn(emulator, name))
  const listAll = async (limit: number) => (await readPages(store.list, limit)).items

  it('list is empty at first', async () => {
    expect(await store.list({ limit: 10, after: null })).toEqual({ items: [], next: null })
  })

  it('create stores an organization, which get returns', async () => {
    const organization = anOrganization('Größer & "日本語"')
    await store.create({ organization })
    expect(await store.get(organization)).toEqual(organization)
  })

  it('create keeps the first of two organizations with one id', async () => {
    const organization = anOrganization()
    await store.create({ organization })
    await store.create({
      organization: { ...organization, name: 'Other', createdAt: '2020-01-01T00:00:00.000Z' },
    })
    expect(await store.get(organization)).toEqual(organization)
  })

  it('create stores one of many organizations with one id', async () => {
    const organization = anOrganization()
    const read = await race(async (racer) => {
      await store.create({ organization: { ...organization, name: `Racer ${racer}` } })
      return store.get(organization)
    })
    expect(read[0]?.name).toMatch(/^Racer \d+$/)
    expect(read).toEqual(Array(read.length).fill(read[0]))
  })

  it('get returns null for an unknown id', async () => {
    expect(await store.get({ id: system.newId() })).toBeNull()
  })

  it.each([1, 4, 100])(
    'list returns every organization once, newest first, in pages of %i',
    async (limit) => {
      const before = await listAll(limit)
      const organizations = Array.from({ length: 10 }, () => anOrganization())
      for (const organization of organizations) await store.create({ organization })
      expect(await listAll(limit)).toEqual([...organizations.toReversed(), ...before])
    },
  )
})
