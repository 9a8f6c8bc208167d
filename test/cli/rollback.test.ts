import { describe, expect, it } from 'vitest'
import { planRollback, type ReleasedFunction } from '../../cli/rollback.ts'

const aFunction = (live: string, ...modifiedAt: number[]): ReleasedFunction => ({
  name: 'run-agent',
  live,
  canary: null,
  versions: modifiedAt.map((time, index) => ({ version: String(index + 1), modifiedAt: time })),
})

const planned = (released: ReleasedFunction, before: number) =>
  planRollback([released], before).map(({ from, to }) => `${from} to ${to}`)

describe('planRollback', () => {
  it('returns to the last version from before the time', () => {
    expect(planned(aFunction('3', 10, 20, 30), 30)).toEqual(['3 to 2'])
    expect(planned(aFunction('3', 10, 20, 30), 15)).toEqual(['3 to 1'])
  })

  it('leaves a function that has not changed since, and one that did not exist', () => {
    expect(planned(aFunction('2', 10, 20), 30)).toEqual([])
    expect(planned(aFunction('1', 40), 30)).toEqual([])
  })

  it('goes forward again with a later time', () => {
    expect(planned(aFunction('1', 10, 20), 100)).toEqual(['1 to 2'])
  })

  it('ends a canary, whose version gets a part of the invocations', () => {
    expect(planned({ ...aFunction('2', 10, 20, 30), canary: '3' }, 30)).toEqual(['3 to 2'])
    expect(planned({ ...aFunction('2', 10, 20, 30), canary: '3' }, 15)).toEqual(['2 to 1'])
  })

  it('orders versions by number', () => {
    const times = Array.from({ length: 12 }, (_, index) => index)
    expect(planned(aFunction('12', ...times), 11)).toEqual(['12 to 11'])
    expect(planned(aFunction('12', ...times), 9.5)).toEqual(['12 to 10'])
  })
})
