import { describe, expect, it } from 'vitest'
import { waitUntil } from '../support/processes/processes.ts'
import { getExecutionId, idsOf } from '../support/service/client.ts'
import { organizationWith } from '../support/service/organization-with.ts'

const org = await organizationWith('brief', 'scored')

/** The record of a run, once its scorer has ended. */
async function scored(text: string) {
  const id = getExecutionId(await org.run('scored', { text }, 'tenantId=acme'))
  const hasScore = async () => (await org.getExecution(id)).scores !== undefined
  await waitUntil(hasScore, { what: 'the score', limitMs: 30_000 })
  return org.getExecution(id)
}

const lowScores = async () =>
  idsOf((await org.call('GET', '/v1/agent_executions?scores=low&fields=summary')).json)

describe('scores in production', () => {
  it('are those of runs that workers make, wait for reviews, and are deleted with the run', async () => {
    const fine = await scored('brief')
    expect(fine.scores).toMatchObject([
      { agent: 'brief', score: 1, reason: 'scored wrote 5 characters.', error: null },
    ])
    const low = await scored('at length')
    const [{ executionId }] = low.scores
    expect(await org.getExecution(executionId)).toMatchObject({
      ...{ source: 'SCORE', parentExecutionId: low.id, scoredExecutionId: low.id, tenantId: 'acme' },
      ...{ status: 'SUCCESS', output: { score: 0.25 } },
    })
    expect(await lowScores()).toEqual([low.id])
    await org.call('PUT', `/v1/agent_executions/${low.id}/feedback`, { body: { rating: -1 } })
    expect(await lowScores()).toEqual([])
    const counts = { highLiked: 0, highDisliked: 0, lowLiked: 0, lowDisliked: 1 }
    const { json: agreement } = await org.call('GET', '/v1/scores/agreement?agent=scored')
    expect(agreement).toEqual([{ scorer: 'brief', runs: 1, kappa: null, ...counts }])
    expect((await org.call('DELETE', `/v1/agent_executions/${low.id}`)).status).toBe(204)
    expect((await org.call('GET', `/v1/agent_executions/${executionId}`)).status).toBe(404)
    const { scores } = fine
    expect((await org.call('DELETE', `/v1/agent_executions/${scores[0].executionId}`)).status).toBe(204)
  })

  it('are searched only among executions that succeeded', async () => {
    const ofErrors = await org.call('GET', '/v1/agent_executions?scores=low&status=ERROR')
    expect(ofErrors).toMatchObject({ status: 400, json: { errors: [{ path: 'scores' }] } })
    expect((await org.call('GET', '/v1/agent_executions?scores=high')).status).toBe(400)
  })
})
