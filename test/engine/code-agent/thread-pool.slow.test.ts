import { describe, expect, it } from 'vitest'
import type { AgentThread } from '../../../lib/engine/code-agent/agent-thread.ts'
import { withThread } from '../../../lib/engine/code-agent/thread-pool.ts'

const RETURNS = 'export default () => ({})'
const WAITS = 'export default () => new Promise((resolve) => setTimeout(resolve, 200, {}))'
const options = { environment: {}, memoryMb: 64 }

/** Executes the code once, in a thread that is kept. Returns the thread. */
function runOnce(key: string, source: string): Promise<AgentThread> {
  const url = `data:text/javascript,${encodeURIComponent(source)}`
  const task = { code: { url, sha256: null }, input: '{}', executionId: '', tenantId: null, storedSteps: [] }
  return new Promise((resolve, reject) => {
    void withThread({ version: key, tenantId: null, environment: '' }, options, async (thread) => {
      await thread.execute(task, () => undefined).then(() => resolve(thread), reject)
      return true
    })
  })
}

const threadsOf = async (runs: Promise<AgentThread>[]) => new Set(await Promise.all(runs)).size

function blockMainThread(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

describe('withThread', () => {
  it('starts no thread because the main thread is busy', async () => {
    await runOnce('busy', RETURNS)
    const runs = Array.from({ length: 20 }, () => runOnce('busy', RETURNS))
    const blocking = setInterval(() => blockMainThread(120), 1)
    const threads = await threadsOf(runs)
    clearInterval(blocking)
    // More than one if the machine is so busy that a thread stops in the middle of a run.
    expect(threads).toBeLessThanOrEqual(3)
  })

  it('starts threads for runs that wait for others, up to the limit of a version', async () => {
    const runs = Array.from({ length: 40 }, () => runOnce('waiting', WAITS))
    const threads = await threadsOf(runs)
    expect(threads).toBeGreaterThan(1)
    expect(threads).toBeLessThanOrEqual(32)
  })

  it('uses the thread again at once after a run', async () => {
    const first = await runOnce('again', RETURNS)
    for (let n = 0; n < 5; n++) expect(await runOnce('again', RETURNS)).toBe(first)
  })

  it('keeps as many idle threads as their share of memory permits', async () => {
    const keys = Array.from({ length: 30 }, (_, n) => `idle ${n}`)
    const threads: AgentThread[] = []
    for (const key of keys) threads.push(await runOnce(key, RETURNS))
    const alive = threads.filter(({ isDestroyed }) => !isDestroyed)
    expect(alive.length).toBeLessThanOrEqual(20)
    expect(alive.at(-1)).toBe(threads.at(-1))
    expect(await runOnce('idle 29', RETURNS)).toBe(threads.at(-1))
  })
})
