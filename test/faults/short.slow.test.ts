import { describe, expect, it } from 'vitest'
import { seedOf } from './random.ts'
import { printed } from './report.ts'
import { runFaults, SETTLE_LEASES } from './run-faults.ts'

const LEASE_SECONDS = 3
const LIMIT_MS = 25_000
const SETTLE_MS = (SETTLE_LEASES * LEASE_SECONDS + 15) * 1000

describe('runs of two services whose processes are killed and whose requests go wrong', () => {
  it(
    'each end once, with the right output, on checkpoints that nobody overwrites',
    async () => {
      const seed = seedOf()
      console.log(`FAULTS_SEED=${seed}`)
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
      console.log(printed(report))
      const repeat = `To repeat it: FAULTS_SEED=${seed} npx vitest run --mode all test/faults/short`
      expect(report.problems, repeat).toEqual([])
    },
    LIMIT_MS + SETTLE_MS + 60_000,
  )
})
