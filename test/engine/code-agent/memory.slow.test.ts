import { beforeAll, describe, expect, it } from 'vitest'
import type { Version } from '../../../lib/core/agent.ts'
import { newOrganization } from '../../support/engine/organization.ts'
import { runHostile } from './run-hostile.ts'

/** A thread has fewer than ten before it is replaced. */
const RUNS = 20

const EXCEEDED = 'The agent exceeded its memory limit of 64 MB.'

describe('the memory limit of a code agent', () => {
  let version: Version
  beforeAll(async () => {
    version = await (await newOrganization()).publish('hostile')
  })

  it.each([
    ['heap', undefined],
    ['buffers', '200'],
    ['buffers in a busy loop', undefined],
    ['one large buffer', '500'],
    ['shared buffers', '200'],
  ])('ends a run with too many: %s', async (how, text) => {
    const { error } = await runHostile(version, how, { ...(text && { text }) })
    expect(error).toMatchObject({ code: 'AgentFailed', message: EXCEEDED })
    expect((await runHostile(version, 'runs of thread')).output).toEqual({ result: '1' })
  })

  it.each(['buffers', 'shared buffers'])('permits %s below it', async (how) => {
    const { status } = await runHostile(version, how, { text: '40', tenantId: how })
    expect(status).toBe('SUCCESS')
  })

  it.each([
    ['heap that is kept', '4'],
    ['buffers that are kept', '8'],
  ])('is not reached by many runs that each leave a little: %s', async (how, text) => {
    const runsOfThread: number[] = []
    for (let run = 0; run < RUNS; run++) {
      const { error, output } = await runHostile(version, how, { text, tenantId: how })
      expect(error).toBeNull()
      runsOfThread.push(Number(output?.result))
    }
    expect(runsOfThread[1]).toBe(2)
    expect(Math.max(...runsOfThread)).toBeLessThan(10)
  })
})
