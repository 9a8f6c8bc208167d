import { describe, expect, it } from 'vitest'
import { findViolations, PERIODS, type Period } from './criteria.ts'
import type { ProcessSample } from './process-sample.ts'

const SAMPLES = Array.from({ length: 200 }, (_, index) => ({ name: 'sync' as const, ms: index }))
const HELD: ProcessSample = { process: 'gateway', rssMiB: 200, heapMiB: 40, sockets: 20, files: 25 }

/** A soak without a violation, changed by `change`, which gets the number of each period from 1. */
const soak = (change: (number: number) => Partial<Period> = () => ({})): Period[] =>
  Array.from({ length: PERIODS }, (_, index) => ({
    load: { samples: SAMPLES, errors: [], notStarted: 0 },
    processes: [HELD],
    ...change(index + 1),
  }))

describe('findViolations', () => {
  it.each([
    ['rssMiB', 30],
    ['heapMiB', 2],
    ['sockets', 5],
    ['files', 2],
  ] as const)('finds %s that grow by %i in each period', (resource, perPeriod) => {
    const growing = (by: number) =>
      soak((number) => ({ processes: [{ ...HELD, [resource]: HELD[resource] + number * by }] }))
    expect(findViolations(growing(perPeriod))).toEqual([expect.stringContaining(`gateway: ${resource} grew`)])
    expect(findViolations(growing(-perPeriod))).toEqual([])
  })

  it('finds a p99 that rises, wrong responses and operations that could not be started', () => {
    const slower = SAMPLES.map(({ name, ms }) => ({ name, ms: ms * 1.31 }))
    const failing = soak((number) => ({
      load: {
        samples: number === PERIODS ? slower : SAMPLES,
        errors: number === 3 ? ['sync: HTTP 500'] : [],
        notStarted: 3,
      },
    }))
    expect(findViolations(failing)).toEqual([
      'sync: HTTP 500',
      expect.stringContaining('18 operations were not started'),
      expect.stringContaining('p99 rose'),
    ])
    expect(findViolations(soak())).toEqual([])
  })
})
