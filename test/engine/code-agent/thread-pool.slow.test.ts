import { expect, it } from 'vitest'
import { withNewThread } from '../../../lib/engine/code-agent/thread-pool.ts'

const OPTIONS = { environment: {}, memoryMb: 16 }
/** As many runs of a version have a thread at the same time. */
const MAX_RUNNING_OF_VERSION = 32

it('runs that wait for agents that they have called leave threads for these', async () => {
  const key = (depth: number) => ({ version: 'one', tenantId: null, environment: '', depth })
  let called = 0
  const all = Promise.withResolvers<void>()
  const runs = Array.from({ length: MAX_RUNNING_OF_VERSION }, (_, index) =>
    withNewThread(key(0), OPTIONS, async () => {
      if (index === MAX_RUNNING_OF_VERSION - 1) all.resolve()
      await all.promise
      await withNewThread(key(1), OPTIONS, async () => {
        called++
        return false
      })
      return false
    }),
  )
  await Promise.all(runs)
  expect(called).toBe(MAX_RUNNING_OF_VERSION)
})
