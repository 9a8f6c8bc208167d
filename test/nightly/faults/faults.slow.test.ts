import { describe, expect, it } from 'vitest'
import { readSeed } from '../../support/data/seed.ts'
import { formatReport } from './report.ts'
import { runFaults, settleMsFor } from './run-faults.ts'

const LEASE_SECONDS = 3
const LIMIT_MS = 25_000
const SETTLE_MS = settleMsFor(LEASE_SECONDS)

describe('two services with killed processes and AWS faults', () => {
  it(
    'complete every run exactly once, with the right output, and overwrite no checkpoint',
    async () => {
      const seed = readSeed()
      console.log(`TEST_SEED=${seed}`)
      const report = await runFaults({
        seed,
        asyncRuns: 60,
        syncRuns: 12,
        killEveryMs: 1_000,
        rate: 0.05,
        leaseSeconds: LEASE_SECONDS,
        settleMs: SETTLE_MS,
        limitMs: LIMIT_MS,
      })
      console.log(formatReport(report))
      const repeat = `To repeat: TEST_SEED=${seed} npx vitest run --mode nightly test/nightly/faults/faults`
      expect(report.problems, repeat).toEqual([])
    },
    // It settles for as long as runs become final.
    LIMIT_MS + 5 * SETTLE_MS,
  )
})
