import { describe, expect, it } from 'vitest'
import { assertScorers } from '../../../lib/agents/lifecycle/assert-scorers.ts'
import type { PublishableAgent } from '../../../lib/agents/lifecycle/publish-agent.ts'
import type { Version } from '../../../lib/core/agent.ts'
import { InvalidAgent } from '../../../lib/core/request-errors.ts'
import { agentStore } from '../../../lib/dynamodb/agent-store.ts'
import { system } from '../../../lib/system.ts'
import { aModelAgent } from '../../support/engine/model-agent.ts'
import { memoryTable } from '../../support/tables/memory-table.ts'

const table = memoryTable()
const agents = agentStore(table)
const SCORE = { outputSchema: { score: { type: 'number' } } }

/** The problems of an agent `answer` that has these scorers. */
async function problemsOf(organizationId: string, ...scorers: string[]) {
  const document = { slug: 'answer', scorers: scorers.map((agent) => ({ agent })) }
  const agent = { document, code: null } as unknown as PublishableAgent
  try {
    await assertScorers(agents, organizationId, agent)
    return []
  } catch (error) {
    if (!(error instanceof InvalidAgent)) throw error
    for (const [index, { path, field }] of (error.errors ?? []).entries())
      expect([path, field], String(index)).toEqual([
        '/document',
        expect.stringMatching(/^scorers\.\d\.agent$/),
      ])
    return (error.errors ?? []).map(({ message }) => message)
  }
}

const publish = (organizationId: string, slug: string, fields: Partial<Version> = {}) =>
  aModelAgent({ organizationId, slug, ...SCORE, ...(fields as object) }, { table })

describe('assertScorers', () => {
  it.each<[string, Version['outputSchema']]>([
    ['a field map', { score: { type: 'number' }, reason: { type: 'string' } }],
    ['an integer', { score: { type: 'integer' } }],
    ['a JSON Schema', { type: 'object', properties: { score: { type: ['number', 'null'] } } }],
    [
      'a reference',
      { type: 'object', properties: { score: { $ref: '#/$defs/score' } }, $defs: { score: {} } },
    ],
  ])('accepts a published agent with the output score: %s', async (_, outputSchema) => {
    const organizationId = system.newId()
    await publish(organizationId, 'faithful', { outputSchema })
    expect(await problemsOf(organizationId, 'faithful')).toEqual([])
  })

  it('refuses agents that are missing, of another organization, drafts, archived, or without a score', async () => {
    const organizationId = system.newId()
    await publish(system.newId(), 'foreign')
    await publish(organizationId, 'draft', { status: 'DRAFT' })
    const { agentId: id } = await publish(organizationId, 'archived')
    await agents.setArchived({ organizationId, id, archivedAt: new Date().toISOString() })
    await publish(organizationId, 'text', { outputSchema: { score: { type: 'string' } } })
    await publish(organizationId, 'none', { outputSchema: { points: { type: 'number' } } })
    const names = ['missing', 'foreign', 'draft', 'archived', 'text', 'none']
    const unpublished = 'which is not published: publish it first'
    const noScore = 'whose output has no score: add score: { type: number } to it'
    const reasons = [unpublished, unpublished, unpublished, 'which is archived', noScore, noScore]
    expect(await problemsOf(organizationId, ...names)).toEqual(
      names.map((name, index) => `agent.md: scorers.${index}.agent: names "${name}", ${reasons[index]}.`),
    )
  })

  it('refuses a cycle of any length, and ends in one that the agent is not part of', async () => {
    const organizationId = system.newId()
    await publish(organizationId, 'b', { scorers: [{ agent: 'c' }, { agent: 'gone' }] })
    await publish(organizationId, 'c', { scorers: [{ agent: 'answer' }, { agent: 'b' }] })
    expect(await problemsOf(organizationId, 'b')).toEqual([
      'agent.md: scorers.0.agent: names "b", whose scorers lead back to "answer".',
    ])
    await publish(organizationId, 'd', { scorers: [{ agent: 'e' }] })
    await publish(organizationId, 'e', { scorers: [{ agent: 'd' }] })
    expect(await problemsOf(organizationId, 'd')).toEqual([])
  })
})
