import { describe, expect, it } from 'vitest'
import { getExecutionId, waitForExecution } from '../../support/service/client.ts'
import { newLifecycle } from './lifecycle-client.ts'

const RUNS = 500
const FLIPS = 50
const RUNS_AT_ONCE = 20
/** For a busy machine. */
const TIMEOUT_MS = 300_000

describe('rollback under load', () => {
  it('lets each of 500 runs use one version while the current one changes 50 times', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const org = await newLifecycle()
    const versions = [await org.publishSaying('flipped', 'A'), await org.publishSaying('flipped', 'B')]
    const saidBy = new Map(versions.map(({ id }, index) => [id, 'AB'[index]]))

    let started = 0
    const outcomes: { id: string; said: string }[] = []
    async function runSome() {
      while (started < RUNS) {
        const run = started++
        const name = `run ${run}`
        const query = run % 3 === 0 ? 'execMode=async' : run % 3 === 1 ? 'useCache=true' : ''
        const response = await org.run('flipped', { name }, query)
        const isAsync = response.status === 202
        expect([200, 202], response.text).toContain(response.status)
        const output = isAsync ? (await waitForExecution(org.call, response.json.id)).output : response.json
        expect(output.name).toBe(name)
        outcomes.push({ id: isAsync ? response.json.id : getExecutionId(response), said: output.said })
      }
    }
    async function flip() {
      for (let flips = 0; flips < FLIPS; flips++) {
        const target = versions[flips % 2]
        const { status, json } = await org.post(`/v1/agents/flipped/versions/${target.id}/promote`)
        expect([status, json.currentVersionId]).toEqual([200, target.id])
        // Spread over the runs.
        const due = (RUNS * (flips + 1)) / (FLIPS + 1)
        await expect
          .poll(() => outcomes.length, { timeout: TIMEOUT_MS, interval: 5 })
          .toBeGreaterThanOrEqual(due)
      }
    }
    await Promise.all([flip(), ...Array.from({ length: RUNS_AT_ONCE }, runSome)])

    expect(outcomes).toHaveLength(RUNS)
    const records = await Promise.all(outcomes.map(({ id }) => org.getExecution(id)))
    for (const [index, { versionId, status, output }] of records.entries()) {
      expect(status).toBe('SUCCESS')
      expect(output.said).toBe(outcomes[index]?.said)
      expect(saidBy.get(versionId)).toBe(output.said)
    }
    expect(new Set(records.map(({ versionId }) => versionId))).toEqual(new Set(saidBy.keys()))
    expect(await org.versions('flipped')).toHaveLength(2)
  })
})
