import { describe, expect, it } from 'vitest'
import { generatePacedLoad, newLoad } from './load.ts'

const { signal } = new AbortController()
const operationsOf = (perform: () => Promise<void>) => ({ next: () => 'sync' as const, perform })

describe('generatePacedLoad', () => {
  it('starts operations at the rate although none ends', async () => {
    const load = newLoad()
    const allStarted = Promise.withResolvers<void>()
    let started = 0
    const operations = operationsOf(() => {
      if (++started === 50) allStarted.resolve()
      return allStarted.promise
    })
    await generatePacedLoad({ operations, signal, load, perSecond: 200, durationMs: 250 })
    expect(load).toMatchObject({ errors: [], notStarted: 0 })
    expect(load.samples).toHaveLength(50)
  })

  it('counts what could not be started in time', async () => {
    const load = newLoad()
    const end = Promise.withResolvers<void>()
    let started = 0
    const operations = operationsOf(() => {
      started++
      return end.promise
    })
    setTimeout(end.resolve, 300)
    await generatePacedLoad({ operations, signal, load, perSecond: 10_000, durationMs: 100 })
    expect(started).toBeLessThan(1_000)
    expect(load.notStarted).toBe(1_000 - started)
  })

  it('keeps the errors', async () => {
    const load = newLoad()
    const operations = operationsOf(() => Promise.reject(new Error('HTTP 500')))
    await generatePacedLoad({ operations, signal, load, perSecond: 100, durationMs: 50 })
    expect(load.samples).toEqual([])
    expect(new Set(load.errors)).toEqual(new Set(['sync: HTTP 500']))
  })
})
