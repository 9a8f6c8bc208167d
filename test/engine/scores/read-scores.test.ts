import { describe, expect, it } from 'vitest'
import { type Access, UNLIMITED } from '../../../lib/core/access.ts'
import { readAgreement, readScores } from '../../../lib/engine/usage/read-scores.ts'
import { system } from '../../../lib/system.ts'
import { ScoredService } from '../../support/scores/scored-service.ts'
import { memoryTable } from '../../support/tables/memory-table.ts'

const accessOf = ({ organizationId }: ScoredService, limits: Partial<Access> = {}): Access => ({
  ...{ ...UNLIMITED, organizationId, tokenId: 'token' },
  ...limits,
})

describe('readAgreement', () => {
  it('compares scores with reviews: not with ratings of users, and only of agents that the token may see', async () => {
    const service = await ScoredService.create(memoryTable())
    const { scored, outbox } = service
    const rated = async (score: number, rating: 1 | -1, isReview = true) => {
      const { id } = await service.run()
      await service.score(score)
      await service.rate(id, rating, isReview)
    }
    for (const score of [0.9, 0.7, 0.2]) await rated(score, 1)
    for (const score of [0.8, 0.1, 0.69]) await rated(score, -1)
    await rated(0.1, 1, false)
    await service.run()
    await service.fail({ code: 'AgentFailed', message: 'It failed.' })
    const read = (access: Access, query = {}) => readAgreement(outbox.stores, { access, query })
    const agreement = {
      ...{ scorer: 'faithful', runs: 6, kappa: 0.333333 },
      ...{ highLiked: 2, highDisliked: 1, lowLiked: 1, lowDisliked: 2 },
    }
    expect(await read(accessOf(service))).toEqual([agreement])
    expect(await read(accessOf(service, { agents: [scored.slug], tenantId: 'acme' }))).toEqual([agreement])
    expect(await read(accessOf(service), { scorer: 'polite' })).toEqual([])
    expect(await read(accessOf(service, { agents: ['faithful'] }))).toEqual([])
    expect(await read(accessOf(service, { tenantId: 'other' }))).toEqual([])
  })
})

describe('readScores', () => {
  it('has a row for each day, version and scorer, which usage has not', async () => {
    const service = await ScoredService.create(memoryTable())
    const { outbox, scored } = service
    for (const score of [0.5, 0.9]) {
      await service.run()
      await service.score(score)
    }
    await service.run()
    await service.score(2)
    await service.sums()
    const stores = { ...outbox.stores, system: outbox.clock }
    const read = async (access: Access, query = {}) =>
      (await readScores(stores, { access, query })).page.items
    const { agentId, id: versionId } = scored
    const scores = { runs: 2, sum: 1_400_000, squares: 1_060_000, low: 1, failed: 1 }
    expect(await read(accessOf(service))).toMatchObject([{ agentId, versionId, scorer: 'faithful', scores }])
    expect(await read(accessOf(service), { version: versionId, scorer: 'faithful' })).toHaveLength(1)
    expect(await read(accessOf(service), { version: system.newId() })).toEqual([])
    expect(await read(accessOf(service), { scorer: 'polite' })).toEqual([])
    expect(await read(accessOf(service, { tenantId: 'other' }))).toEqual([])
    expect(await read(accessOf(service, { agents: ['faithful'] }))).toEqual([])
  })
})
