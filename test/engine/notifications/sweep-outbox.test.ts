import { expect, it } from 'vitest'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import type { Subject } from '../../../lib/core/notification.ts'
import { newOutboxMemory, sweepOutbox } from '../../../lib/engine/notifications/sweep-outbox.ts'

const HOUR_MS = 3_600_000
const PAGE_MS = 15_000

it('continues a log that is too long for one sweep where the last one stopped', async () => {
  let now = 10 * HOUR_MS
  let position = 0
  const entries = Array.from({ length: 10 }, (_, hour) => ({
    ...{ subject: { kind: 'execution' as const, id: `run-${hour}` }, organizationId: 'o' },
    at: hour * HOUR_MS,
  }))
  const deliveries = {
    async *readOutbox({ from }: { from: number }) {
      for (const entry of entries.filter(({ at }) => at >= from)) {
        now += PAGE_MS
        yield { entries: [entry], until: entry.at }
      }
    },
    findHandled: async ({ subjects }: { subjects: Subject[] }) => new Set(subjects.map(({ id }) => id)),
    getPosition: async () => position,
    setPosition: async (params: { position: number }) => {
      position = params.position
    },
  }
  const positions: number[] = []
  const memory = newOutboxMemory()
  for (let sweep = 0; sweep < 10; sweep++) {
    const queue = { send: async () => undefined }
    const system = { now: () => now, newId: () => '' }
    await sweepOutbox({ deliveries, queue, system, times: leaseTimes(), memory })
    positions.push(position / HOUR_MS)
  }
  expect(positions.slice(0, 3)).toEqual([1, 2, 3])
  expect(position).toBeGreaterThan(9 * HOUR_MS)
})
