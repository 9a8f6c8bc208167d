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

const growing = (resource: keyof ProcessSample, perPeriod: number, process = 'gateway') =>
  soak((number) => ({
    processes: [{ ...HELD, process, [resource]: Number(HELD[resource as 'files']) + number * perPeriod }],
  }))

describe('findViolations', () => {
  it('finds none in a steady soak', () => {
    expect(findViolations(soak())).toEqual([])
  })

  it.each([
    ['rssMiB', 30],
    ['heapMiB', 2],
    ['sockets', 5],
    ['files', 2],
  ] as const)('finds %s that grow by %i in each period', (resource, perPeriod) => {
    expect(findViolations(growing(resource, perPeriod))).toEqual([
      expect.stringContaining(`gateway: ${resource} grew`),
    ])
    expect(findViolations(growing(resource, -perPeriod))).toEqual([])
  })

  it('ignores the growth of the first period, and that of the database', () => {
    const warmingUp = soak((number) => (number === 1 ? { processes: [{ ...HELD, heapMiB: 10 }] } : {}))
    expect(findViolations(warmingUp)).toEqual([])
    expect(findViolations(growing('rssMiB', 100, 'database'))).toEqual([])
  })

  it.each([
    [1.29, []],
    [1.31, [expect.stringContaining('p99 rose')]],
  ])('compares the last p99 with the first, %f times as high', (factor, violations) => {
    const slower = SAMPLES.map(({ name, ms }) => ({ name, ms: ms * factor }))
    const slowing = soak((number) =>
      number === PERIODS ? { load: { samples: slower, errors: [], notStarted: 0 } } : {},
    )
    expect(findViolations(slowing)).toEqual(violations)
  })

  it('reports wrong responses, and operations that could not be started', () => {
    const failing = soak((number) => ({
      load: { samples: SAMPLES, errors: number === 3 ? ['sync: HTTP 500'] : [], notStarted: 3 },
    }))
    expect(findViolations(failing)).toEqual([
      'sync: HTTP 500',
      expect.stringContaining('18 operations were not started'),
    ])
  })
})
