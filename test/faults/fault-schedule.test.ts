import { describe, expect, it } from 'vitest'
import { FAULTS, faultSchedule } from './fault-schedule.ts'

describe('faultSchedule', () => {
  const thousand = (seed: number, name: string) => {
    const next = faultSchedule(seed, name)
    return Array.from({ length: 1_000 }, () => next(0.5))
  }

  it('gives the same faults for the same seed, and others for another', () => {
    expect(thousand(7, 'sqs')).toEqual(thousand(7, 'sqs'))
    expect(thousand(7, 'sqs')).not.toEqual(thousand(8, 'sqs'))
    expect(thousand(7, 'sqs')).not.toEqual(thousand(7, 'dynamodb'))
  })

  it('lets as many requests meet a fault as the rate says, and each kind as often', () => {
    const drawn = thousand(7, 'sqs')
    for (const kind of FAULTS) {
      const share = drawn.filter(({ fault }) => fault === kind).length
      expect(share).toBeGreaterThan(60)
      expect(share).toBeLessThan(140)
    }
    expect(drawn.filter(({ fault }) => fault === null).length).toBeGreaterThan(400)
  })

  it('is not shifted by a change of the rate', () => {
    const [steady, changed] = [faultSchedule(7, 'sqs'), faultSchedule(7, 'sqs')]
    for (let n = 0; n < 100; n++) {
      steady(0.5)
      changed(n % 2)
    }
    expect(changed(0.5)).toEqual(steady(0.5))
  })
})
