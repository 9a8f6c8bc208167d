import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Execution } from '../../../lib/core/execution.ts'
import { anAgent, replayOf, run } from './replays.ts'

/** Returns its thread, and how many runs it has had in it. */
const IN_THREAD = {
  head: `import { threadId } from 'node:worker_threads'\nlet runs = 0`,
  body: `return { thread: threadId, runs: ++runs }`,
}

const inThread = () => anAgent(IN_THREAD.body, IN_THREAD)
const outputOf = async (execution: Promise<Execution>) =>
  (await execution).output as { thread: number; runs: number }

describe('the thread of a replay', () => {
  it.each(['recorded', 'live'] as const)('is new, and used by no other run, with %s steps', async (steps) => {
    const version = await inThread()
    const original = await run(version)
    const warm = original.output as { thread: number; runs: number }
    const first = await outputOf(run(version, replayOf(original, { steps })))
    const second = await outputOf(run(version, replayOf(original, { steps })))
    const last = await outputOf(run(version))
    expect([warm.runs, first.runs, second.runs]).toEqual([1, 1, 1])
    expect(last).toEqual({ thread: warm.thread, runs: 2 })
    expect(new Set([warm, first, second].map(({ thread }) => thread)).size).toBe(3)
  })

  it('ends with what the agent has left running', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'aes-replay-threads-')), 'log')
    onTestFinished(() => rmSync(dirname(file), { recursive: true, force: true }))
    const version = await anAgent(
      `const again = () => { appendFileSync(${JSON.stringify(file)}, 'x'); setImmediate(again) }
       again()
       return {}`,
      { head: `import { appendFileSync } from 'node:fs'` },
    )
    const original = await run(await anAgent('return {}', { of: version }))
    expect(await run(version, replayOf(original))).toMatchObject({ status: 'SUCCESS' })
    const idle = await anAgent('return {}')
    /** While other runs take place. */
    const isWriting = async () => {
      rmSync(file, { force: true })
      for (let n = 0; n < 50; n++) await run(idle)
      return existsSync(file)
    }
    await expect.poll(isWriting).toBe(false)
  })
})
