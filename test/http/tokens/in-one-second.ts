import { vi } from 'vitest'

/** What requests returned that began and ended in the same second of the clock. */
export async function inOneSecond<T>(request: () => Promise<T>): Promise<T> {
  const second = () => Math.floor(Date.now() / 1000)
  return await vi.waitFor(
    async () => {
      const before = second()
      await vi.waitUntil(() => second() > before, { interval: 5 })
      const began = second()
      const returned = await request()
      if (second() !== began) throw new Error('The requests took longer than a second each time.')
      return returned
    },
    { timeout: 40_000 },
  )
}
