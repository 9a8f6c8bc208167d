import { describe, expect, it, vi } from 'vitest'
import { findVersion } from '../../cli/find.ts'
import { openStores } from '../../lib/dynamodb/open-stores.ts'
import { newOrganization, sharedTable } from '../support/engine/organization.ts'

describe('findVersion', () => {
  it('reads the agent once', async () => {
    const { id, publish } = await newOrganization()
    const published = await publish('echo')
    const stores = openStores(sharedTable())
    const get = vi.spyOn(stores.agents, 'get')
    const organization = { id, name: 'Test', createdAt: published.createdAt }
    const params = { stores, organization, idOrSlug: 'echo', versionId: undefined, options: {} as never }
    expect(await findVersion(params)).toMatchObject({ id: published.id })
    expect(get).toHaveBeenCalledOnce()
  })
})
