import { describe, expect, it } from 'vitest'
import { leaseTimes } from '../../lib/core/lease-times.ts'
import { DEADLINE_MS } from '../../lib/core/limits.ts'
import type { StaleExecution } from '../../lib/core/ports/executions.ts'
import type { QueuedExecution } from '../../lib/core/ports/queues.ts'
import { sweep } from '../../lib/engine/maintenance.ts'
import { system } from '../../lib/system.ts'

const NOW = Date.now()

const aStaleExecution = (): StaleExecution => ({
  id: system.newId(),
  organizationId: system.newId(),
  tenantId: null,
  createdAt: new Date(NOW - 120_000).toISOString(),
  openUntil: NOW - 1,
  deadlineAt: NOW + DEADLINE_MS,
})

/** Sweeps these executions. `postponed`: what their records say. */
function sweepStale(
  stale: StaleExecution[],
  send: (message: QueuedExecution) => Promise<void>,
  postponed = { attempts: 0, attemptsSinceProgress: 0, sharesWorker: false },
) {
  const executions = {
    listStale: async () => stale,
    postpone: async () => postponed,
    end: async () => null,
    getSummary: async () => null,
    listOpenChildren: async () => [],
    settle: async () => undefined,
  }
  const steps = { close: async () => null, getProgress: async () => null, read: async () => [] }
  return sweep({ executions, steps, queue: { send }, system, times: leaseTimes() })
}

describe('sweep', () => {
  it.each([
    { attempts: 0, attemptsSinceProgress: 0, shares: true, sharesWorker: true, isSuspect: false },
    { attempts: 0, attemptsSinceProgress: 0, shares: false, sharesWorker: false, isSuspect: false },
    { attempts: 3, attemptsSinceProgress: 1, shares: true, sharesWorker: false, isSuspect: false },
    { attempts: 2, attemptsSinceProgress: 2, shares: true, sharesWorker: false, isSuspect: true },
  ])('sends a run in a message with these: %j', async ({ shares, sharesWorker, isSuspect, ...counts }) => {
    const sent: QueuedExecution[] = []
    const postponed = { ...counts, sharesWorker: shares }
    await sweepStale([aStaleExecution()], async (message) => void sent.push(message), postponed)
    expect(sent).toMatchObject([{ sharesWorker, isSuspect }])
  })

  it('fails when the queue rejects messages, after it has swept the other executions', async () => {
    const stale = [aStaleExecution(), aStaleExecution(), aStaleExecution()]
    const rejected = stale[0]?.id
    const sent: string[] = []
    const send = async ({ executionId }: QueuedExecution) => {
      if (executionId === rejected) throw new Error('Access denied.')
      sent.push(executionId)
    }
    await expect(sweepStale(stale, send)).rejects.toThrow(
      '1 of 3 stale executions could not be swept. First error: Access denied.',
    )
    expect(sent).toEqual(stale.slice(1).map(({ id }) => id))
  })
})
