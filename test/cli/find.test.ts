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
    const run = { tenantId: null, executionId: published.id }
    const params = { stores, organization, idOrSlug: 'echo', versionId: undefined, run, options: {} as never }
    expect(await findVersion(params)).toMatchObject({ version: { id: published.id }, selectedBy: 'CURRENT' })
    expect(get).toHaveBeenCalledOnce()
  })
})
