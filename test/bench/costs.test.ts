import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { billedMs, billOf, totalOf } from '../../bench/costs/compute.ts'
import { costsDocument } from '../../bench/costs/document.ts'
import { measureRuns } from '../../bench/costs/measure.ts'
import measured from '../../bench/costs/measured.json' with { type: 'json' }
import { PRICES } from '../../bench/costs/prices.ts'
import type { Measured, RunUse } from '../../bench/costs/usage.ts'
import { settingsOf } from '../../infra/functions/function-settings.ts'
import { resourcesOf, synthesize } from '../infra/synthesize.ts'

const kept = measured as unknown as Measured

describe('docs/costs.md', () => {
  it('is what the last measurement and the prices come to', () => {
    const alarms = Object.keys(resourcesOf(synthesize(), 'AWS::CloudWatch::Alarm')).length
    const written = readFileSync(new URL('../../docs/costs.md', import.meta.url), 'utf8')
    expect(written, 'npm run costs -- --quick writes it again').toBe(costsDocument(kept, alarms))
  })
})

/** What does not depend on the machine. The cap on open executions is counted once in many runs: that Query is left out. */
const countsOf = ({ uses }: Measured) =>
  uses.map(({ kind, functions }) => ({
    kind,
    functions: functions.map(({ name, requests: { Query: _, ...requests }, writeUnits }) => ({
      name,
      requests,
      writeUnits,
    })),
  }))

describe('measureRuns', () => {
  let now: Measured
  beforeAll(async () => {
    now = await measureRuns(() => undefined, { runs: 10, warmUp: 2 })
  })

  it('counts today what the document says', () => {
    expect(countsOf(now), 'npm run costs measures again').toEqual(countsOf(kept))
  })

  it('finds that every function works and logs', () => {
    for (const { logBytes, cpuMs } of now.uses.flatMap(({ functions }) => functions)) {
      expect(logBytes).toBeGreaterThan(100)
      expect(cpuMs).toBeGreaterThan(0)
    }
  })
})

describe('billOf', () => {
  const use: RunUse = {
    kind: 'async',
    storedBytes: 1_000,
    functions: [
      {
        name: 'process-execution',
        cpuMs: 10,
        requests: { GetItem: 1, PutItem: 2 },
        readUnits: 3,
        writeUnits: 4,
        queueRequests: 1,
        logBytes: 100,
      },
    ],
  }

  it('bills work at the share of a core, and every round trip', () => {
    const { memoryMb } = settingsOf('process-execution')
    expect(billedMs(use.functions[0] as never)).toBe(Math.ceil((10 * 1769) / memoryMb + 4 * 5))
  })

  it('adds up a million of each part', () => {
    const bill = billOf(use)
    expect(bill['DynamoDB writes']).toBeCloseTo(4 * 1e6 * PRICES.writeUnits)
    expect(bill['DynamoDB reads']).toBeCloseTo(3 * 1e6 * PRICES.readUnits)
    expect(bill.SQS, 'sent, received, deleted').toBeCloseTo(
      1e6 * (3 * PRICES.queueRequests + PRICES.fairSends),
    )
    expect(bill['API Gateway'], 'no client calls it').toBe(0)
    expect(bill['Lambda time']).toBeCloseTo(
      1e6 *
        (billedMs(use.functions[0] as never) / 1000) *
        (settingsOf('process-execution').memoryMb / 1024) *
        PRICES.lambdaGigabyteSeconds,
    )
    expect(totalOf(bill)).toBeCloseTo(Object.values(bill).reduce((sum, part) => sum + part))
  })
})
