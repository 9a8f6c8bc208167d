import { describe, expect, it } from 'vitest'
import { newOrganization } from '../../support/engine/organization.ts'

describe('versions', () => {
  it('are numbered, and say who has promoted them and when, also once they are replaced', async () => {
    const org = await newOrganization()
    const read = async (id: string) => (await org.call('GET', `/v1/agents/echo/versions/${id}`)).json
    const first = await org.publish('echo', { title: 'A' })
    const draft = await org.publish('echo', { title: 'B', draft: true })
    expect(await read(first.id)).toMatchObject({ number: 1, promotedAt: first.createdAt, promotedBy: org.id })
    expect(await read(draft.id)).toMatchObject({ number: 2, promotedAt: null, promotedBy: null })
    await org.call('POST', `/v1/agents/echo/versions/${draft.id}/promote`)
    const { tokenId } = (await org.call('GET', '/v1/me')).json
    const promoted = await read(draft.id)
    expect(promoted).toMatchObject({ number: 2, promotedBy: tokenId, promotedByName: expect.any(String) })
    expect(Date.parse(promoted.promotedAt)).toBeGreaterThan(Date.parse(draft.createdAt))
    const third = await org.publish('echo', { title: 'C' })
    expect(await read(third.id)).toMatchObject({ number: 3, promotedBy: org.id })
    expect(await read(draft.id)).toEqual(promoted)
    expect(await read(first.id)).toMatchObject({ promotedAt: first.createdAt })
    await org.call('POST', `/v1/agents/echo/versions/${first.id}/promote`)
    expect(await read(first.id)).toMatchObject({ number: 1, promotedBy: tokenId })
    const { json: list } = await org.call('GET', '/v1/agents/echo/versions')
    expect(list.map(({ number }: { number: number }) => number)).toEqual([3, 2, 1])
  })

  it('are of an organization with a name', async () => {
    const org = await newOrganization()
    expect((await org.call('GET', '/v1/me')).json).toMatchObject({
      organizationName: expect.any(String),
      environmentName: null,
      httpPublishing: true,
    })
  })
})
