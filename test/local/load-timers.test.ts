import { expect, it } from 'vitest'
import { leaseTimes } from '../../lib/core/lease-times.ts'
import type { QueueMessage } from '../../lib/core/ports/queues.ts'
import type { Wait } from '../../lib/core/wait.ts'
import { openStores } from '../../lib/dynamodb/open-stores.ts'
import { timerOf } from '../../lib/engine/waiting/suspend.ts'
import { system } from '../../lib/system.ts'
import { loadTimers } from '../../local/load-timers.ts'
import { anExecution } from '../support/engine/executions.ts'
import { memoryTable } from '../support/tables/memory-table.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const START = 1_800_000_000_000
const times = leaseTimes(10 * SECOND)

it('sends the messages of runs that wake within 15 minutes, each with the delay to its time, and of those that something has arrived for', async () => {
  const stores = openStores(memoryTable())
  const suspended = async (at: number, until: number, waits: Wait[] = []) => {
    const lease = { owner: 'me', expiresAt: at + MINUTE }
    const execution = anExecution({ organizationId: system.newId(), now: at, lease })
    await stores.executions.create({ execution })
    const suspension = { at, until, waits }
    const limits = { openUntil: timerOf({ times }, suspension), deadlineAt: until + MINUTE }
    await stores.executions.suspend({ execution, owner: 'me', suspension, ...limits })
    return execution.id
  }
  const late = await suspended(START - 40 * SECOND, START - 28 * SECOND)
  const short = await suspended(START - 5 * SECOND, START + 5 * SECOND)
  const almost = await suspended(START - MINUTE, START + 13 * MINUTE)
  const long = await suspended(START - 60 * MINUTE, START + 2 * SECOND)
  await suspended(START - 60 * MINUTE, START + 16 * MINUTE)
  const at = new Date(START).toISOString()
  const waits: Wait[] = [{ kind: 'signal', name: 'paid', signals: ['paid'], since: at, until: null }]
  const signalled = await suspended(START - 60 * MINUTE, START + 24 * 60 * MINUTE, waits)
  const signal = { id: system.newId(), name: 'paid', data: null, bytes: 4, receivedAt: at }
  await stores.signals.put({ executionId: signalled, signal })
  await suspended(START - 60 * MINUTE, START + 24 * 60 * MINUTE, waits)
  const sent = new Map<string, number | undefined>()
  const sendBatch = async (messages: (QueueMessage & { delayMs?: number })[]) => {
    for (const message of messages)
      if ('executionId' in message && message.wakes) sent.set(message.executionId, message.delayMs)
  }
  await loadTimers({ ...stores, queue: { sendBatch }, system: { now: () => START } })
  expect(Object.fromEntries(sent)).toEqual({
    [late]: 0,
    [short]: 5 * SECOND,
    [almost]: 13 * MINUTE,
    [long]: 2 * SECOND,
    [signalled]: 0,
  })
})
