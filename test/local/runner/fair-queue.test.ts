import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { adaptSlots, FairQueue } from '../../../local/runner/fair-queue.ts'

/** How many items of each organization start when each has more than enough. */
function fill(slots: number, organizations: number): number[] {
  const queue = new FairQueue<number>(slots)
  for (let id = 0; id < organizations; id++) for (let i = 0; i < slots; i++) queue.add(String(id), id)
  const counts = Array<number>(organizations).fill(0)
  for (let next = queue.next(); next; next = queue.next()) counts[next.item] = (counts[next.item] ?? 0) + 1
  return counts
}

describe('FairQueue', () => {
  it.each([
    [40, 1, [32]],
    [40, 2, [18, 18]],
    [40, 3, [13, 12, 12]],
    [1, 1, [1]],
  ])('of %i slots, %i organizations get %j', (slots, organizations, counts) => {
    expect(fill(slots, organizations)).toEqual(counts)
  })

  it('starts an item of an organization that has none in process as long as a slot is free', () => {
    const queue = new FairQueue<string>(40)
    for (let i = 0; i < 1_000; i++) queue.add('busy', 'busy')
    while (queue.next());
    for (let other = 0; other < 8; other++) {
      queue.add(`other ${other}`, 'other')
      expect(queue.next()?.item).toBe('other')
    }
    expect(queue.running).toBe(40)
    expect(queue.next()).toBeUndefined()
  })

  it('starts no more items of a limited organization than its limit, and others beside them', () => {
    const queue = new FairQueue<string>(40, { limits: { limited: 1 } })
    for (let i = 0; i < 3; i++) queue.add('limited', 'limited')
    queue.add('other', 'other')
    const [first, second] = [queue.next(), queue.next()]
    expect([first?.item, second?.item].sort()).toEqual(['limited', 'other'])
    expect(queue.next()).toBeUndefined()
    for (const each of [first, second]) if (each?.item === 'limited') each.end()
    expect(queue.next()?.item).toBe('limited')
    expect(queue.next()).toBeUndefined()
  })

  it('starts urgent items first, as soon as a slot is free, and keeps a slot for others', () => {
    const queue = new FairQueue<string>(40, { isUrgent: (id) => id.startsWith('urgent') })
    for (let id = 0; id < 50; id++) {
      for (let i = 0; i < 4; i++) queue.add(`run ${id}`, 'run')
      for (let i = 0; i < 4; i++) queue.add(`urgent ${id}`, 'urgent')
    }
    const running: NonNullable<ReturnType<typeof queue.next>>[] = []
    const start = () => {
      for (let next = queue.next(); next; next = queue.next()) running.push(next)
    }
    start()
    const countUrgent = () => running.filter(({ item }) => item === 'urgent').length
    expect(countUrgent()).toBeGreaterThanOrEqual(39)
    expect(countUrgent()).toBeLessThanOrEqual(40)
    for (let round = 0; round < 100; round++) {
      const index = running.findIndex(({ item }) => item === 'urgent')
      running.splice(index, 1)[0]?.end()
      start()
      expect(countUrgent()).toBeGreaterThanOrEqual(39)
    }
    expect(running).toHaveLength(40)
    // Each of the others keeps its slots until they end.
    expect(countUrgent()).toBe(39)
  })

  it('starts every item once, those of an organization in their order, and never more than there are slots', () => {
    const script = fc.array(fc.oneof(fc.constantFrom('a', 'b', 'c', 'next'), fc.record({ end: fc.nat() })))
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), script, (slots, actions) => {
        const queue = new FairQueue<[string, number]>(slots)
        const added: [string, number][] = []
        const started: [string, number][] = []
        const running: (() => void)[] = []
        const start = () => {
          const next = queue.next()
          if (next) started.push(next.item)
          if (next) running.push(next.end)
          expect(running.length).toBeLessThanOrEqual(slots)
          return next !== undefined
        }
        for (const action of actions) {
          if (action === 'next') start()
          else if (typeof action === 'object') running.splice(action.end % (running.length || 1), 1)[0]?.()
          else {
            const item: [string, number] = [action, added.length]
            added.push(item)
            queue.add(action, item)
          }
        }
        while (queue.waiting > 0) if (!start()) running.pop()?.()
        for (const id of ['a', 'b', 'c'])
          expect(started.filter(([of]) => of === id)).toEqual(added.filter(([of]) => of === id))
      }),
    )
  })
})

describe('adaptSlots', () => {
  const LATE = { lateMs: 1_000 }
  const IN_TIME = { lateMs: 5 }
  const play = (slots: number, loads: { lateMs: number; running?: number }[], max = 40) =>
    loads.reduce((now, { lateMs, running = now }) => adaptSlots(now, { max, running, lateMs }), slots)

  it('reaches all slots within a second of work that waits for others', () => {
    expect(play(8, Array(8).fill(IN_TIME))).toBe(40)
    expect(play(4, Array(20).fill(IN_TIME), 7)).toBe(7)
  })

  it('halves those in use while timers are late, down to two, and keeps them in between', () => {
    expect(play(40, [LATE])).toBe(20)
    expect(play(40, [{ ...LATE, running: 10 }])).toBe(5)
    expect(play(40, Array(9).fill(LATE))).toBe(2)
    expect(play(1, [LATE], 1)).toBe(1)
    expect(play(20, [{ lateMs: 300 }])).toBe(20)
  })

  it('does not grow while slots are free, beside those that one organization leaves', () => {
    expect(play(20, [{ ...IN_TIME, running: 15 }])).toBe(20)
    expect(play(20, [{ ...IN_TIME, running: 16 }])).toBe(25)
  })
})
