import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Execution, ExecutionStatus } from '../../lib/core/execution.ts'
import { emitCompleted } from '../../lib/engine/completion-events.ts'
import { waitForCompletion } from '../../lib/engine/wait-for-completion.ts'
import { anExecution } from '../support/executions.ts'

// Only the timers that it sleeps by; they stand still unless a test lets them go on.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

/** An execution whose status a test sets, and how often it was looked at. */
function watched(execution: Execution = anExecution()) {
  const seen = { status: 'IN_PROGRESS' as ExecutionStatus | null, looks: 0 }
  const executions = {
    getStatus: async () => {
      seen.looks++
      return seen.status
    },
    get: async () => (seen.status ? { ...execution, status: seen.status } : null),
  }
  const wait = (limitMs: number) => waitForCompletion({ executions, ...execution, limitMs })
  return { execution, seen, wait }
}

/** Lets everything happen that needs no timer. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

describe('waitForCompletion', () => {
  it('does not look for the end of what it need not wait for', async () => {
    const { seen, wait } = watched()
    expect(await wait(0)).toMatchObject({ status: 'IN_PROGRESS' })
    expect(seen.looks).toBe(0)
  })

  it('answers when the end is announced, without waiting for its next look', async () => {
    const { execution, seen, wait } = watched()
    const waiting = wait(20_000)
    await settle()
    expect(seen.looks).toBe(1)
    seen.status = 'SUCCESS'
    emitCompleted(execution.id)
    expect(await waiting).toMatchObject({ status: 'SUCCESS' })
    expect(seen.looks).toBe(2)
  })

  it('hears what is announced while it looks', async () => {
    const { execution, seen, wait } = watched()
    const waiting = wait(20_000)
    // Its look is under way, and found the execution in progress.
    emitCompleted(execution.id)
    seen.status = 'SUCCESS'
    expect(await waiting).toMatchObject({ status: 'SUCCESS' })
  })

  it('looks once more, and waits on, when it was no end', async () => {
    const { execution, seen, wait } = watched()
    const waiting = wait(1_000)
    await settle()
    emitCompleted(execution.id)
    emitCompleted(anExecution().id)
    await settle()
    await settle()
    expect(seen.looks).toBe(2)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await waiting).toMatchObject({ status: 'IN_PROGRESS' })
  })

  it('finds an end that nobody announces', async () => {
    const { seen, wait } = watched()
    const waiting = wait(20_000)
    await settle()
    seen.status = 'ERROR'
    await vi.advanceTimersByTimeAsync(100)
    expect(await waiting).toMatchObject({ status: 'ERROR' })
  })

  it('answers at its limit, and when there is none any more', async () => {
    const { seen, wait } = watched()
    const waiting = wait(5_000)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(await waiting).toMatchObject({ status: 'IN_PROGRESS' })
    expect(seen.looks).toBeLessThan(15)
    seen.status = null
    expect(await wait(5_000)).toBeNull()
  })
})
