import { beforeAll, describe, expect, it } from 'vitest'
import type { Version } from '../../../lib/core/agent.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { runInProcess } from '../../../lib/engine/submit/submit.ts'
import { system } from '../../../lib/system.ts'
import { engineOn } from '../../support/engine.ts'
import { newOrganization, sharedTable } from '../../support/organization.ts'

const MINUTE_MS = 60_000
let version: Version

beforeAll(async () => {
  version = await (await newOrganization()).publish('echo')
})

/** Runs the agent with a cache entry that lives for a minute. */
function runAt(minute: number, key: string, overrides: Partial<Engine> = {}) {
  const engine = {
    ...engineOn(sharedTable()),
    system: { ...system, now: () => Date.now() + minute * MINUTE_MS },
    ...overrides,
  }
  return runInProcess(engine, {
    version,
    input: { text: 'x' },
    tenantId: null,
    options: { maxAgentSteps: 1, model: null, useDynamicLearning: false },
    cache: { key, ttlSeconds: 60 },
  })
}

describe('reuseResult', () => {
  it('reuses a result that could not be stored, for no longer than its cache entry would have lived', async () => {
    const key = system.newId()
    const { cache } = engineOn(sharedTable())
    const failing = { ...cache, store: () => Promise.reject(new Error('no response')) }
    const first = await runAt(0, key, { cache: failing })
    expect(first).toMatchObject({ status: 'SUCCESS', cached: false })
    expect(await runAt(0, key)).toMatchObject({ cached: true, cachedExecutionId: first.id })
    const second = await runAt(2, key)
    expect(second).toMatchObject({ status: 'SUCCESS', cached: false })
    expect(await runAt(2, key)).toMatchObject({ cached: true, cachedExecutionId: second.id })
  })
})
