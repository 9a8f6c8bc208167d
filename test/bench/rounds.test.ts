import { expect, it } from 'vitest'
import { takeTurns } from '../../bench/rounds.ts'

it('lets every contender take one turn a round, each second round backwards', async () => {
  const order: string[] = []
  const contender = (name: string) => ({ name, turn: async () => order.push(name) })
  const measures = await takeTurns(['a', 'b', 'c'].map(contender), 3)
  expect(order.join('')).toBe('abccbaabc')
  expect(measures).toEqual({ a: [1, 6, 7], b: [2, 5, 8], c: [3, 4, 9] })
})

it('begins no round when the time is over, but the first', async () => {
  const measures = await takeTurns([{ name: 'a', turn: async () => 1 }], 5, 0)
  expect(measures.a).toEqual([1])
})
