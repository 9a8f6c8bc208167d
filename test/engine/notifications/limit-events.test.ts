import { describe, expect, it } from 'vitest'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import type { Webhook } from '../../../lib/core/notification.ts'
import { NO_LIMITS, type Spending } from '../../../lib/core/usage-limits.ts'
import { warningKey } from '../../../lib/dynamodb/table/keys.ts'
import type { Table } from '../../../lib/dynamodb/table/table.ts'
import { openRunLimits } from '../../../lib/engine/model-agent/run-limits.ts'
import { forgetWebhooks } from '../../../lib/engine/notifications/destinations.ts'
import { system } from '../../../lib/system.ts'
import { anExecution } from '../../support/engine/executions.ts'
import { anOutbox } from '../../support/notifications/an-outbox.ts'
import { itemsIn } from '../../support/tables/items-in.ts'
import { memoryTable } from '../../support/tables/memory-table.ts'

const { graceMs } = leaseTimes()
const WARNING = { types: ['limit.warning' as const] }
const NOW = Date.parse('2026-11-25T10:20:30.000Z')
const PROCESSES = 16

/** The position of the outbox is that of all organizations of a table. */
function open(table?: Table, webhook: Partial<Webhook> = WARNING) {
  const outbox = anOutbox(table, { startedAt: NOW })
  outbox.addWebhook(webhook)
  const { organizationId } = outbox
  const spending = (overrides: Partial<Spending> = {}): Spending => ({
    organizationId,
    subject: { kind: 'tenant', id: 'acme' },
    limits: { maxCostUsd: { day: 10, month: 100 }, warnAt: 0.8 },
    spent: { day: 8, month: 8 },
    at: NOW,
    ...overrides,
  })
  const sentData = () => outbox.sent.map(({ data }) => data)
  /** All events of a while, delivered by messages and by the sweeper. */
  async function settle() {
    for (let minute = 0; minute < 12; minute++) {
      await outbox.deliver()
      outbox.pass(graceMs)
      await outbox.sweep()
    }
    await outbox.deliver()
  }
  return { ...outbox, spending, sentData, settle, warn: outbox.stores.warnAtLimit }
}

describe('limit.warning', () => {
  it('is sent when the share of a limit is spent, with what was spent then', async () => {
    const { warn, spending, settle, sent, ...outbox } = open()
    await warn(spending({ spent: { day: 7.999_999_999, month: 79.9 } }))
    expect(outbox.messages()).toEqual([])
    await warn(spending({ spent: { day: 8, month: 79.9 } }))
    await warn(spending({ spent: { day: 9, month: 80 } }))
    await warn(spending({ spent: { day: 12, month: 83 } }))
    await settle()
    const about = { tenantId: 'acme', warnAt: 0.8 }
    // Both are delivered at the same time.
    sent.sort((a, b) => String(a.data.period).localeCompare(String(b.data.period)))
    const day = { period: 'day', limitUsd: 10, spentUsd: 8, at: expect.stringMatching(/^2026-/) }
    expect(sent).toMatchObject([
      { type: 'limit.warning', data: { ...about, ...day } },
      { type: 'limit.warning', data: { ...about, period: 'month', limitUsd: 100, spentUsd: 80 } },
    ])
    expect(sent[0]?.eventId).toBe(`evt_limit_${sent[0]?.data.id}_1`)
    expect(Object.keys(sent[0]?.data ?? {})).not.toContain('agentId')
  })

  it.each([
    [0.8, 0.05, 0.04],
    [0.1, 3, 0.3],
    [0.7, 0.1, 0.07],
    [0.0001, 0.000001, 0.000000001],
  ])(
    'is sent when exactly the share %s of %s dollars is spent, and not before',
    async (warnAt, day, share) => {
      const { warn, spending, ...outbox } = open()
      const limits = { maxCostUsd: { day, month: null }, warnAt }
      await warn(spending({ limits, spent: { day: (share * 1e9 - 1) / 1e9, month: 0 } }))
      expect(outbox.messages()).toEqual([])
      await warn(spending({ limits, spent: { day: share, month: 0 } }))
      expect(outbox.messages()).toHaveLength(1)
    },
  )

  it('is sent once for each subject, period and value of the limit', async () => {
    const { warn, spending, settle, sentData } = open()
    const limits = { maxCostUsd: { day: 10, month: null }, warnAt: 0.8 }
    const day = spending({ limits })
    const id = system.newId()
    const others = [
      // Another share of the same limit.
      { ...day, limits: { ...limits, warnAt: 0.5 } },
      { ...day, subject: { kind: 'agent' as const, id } },
      { ...day, subject: { kind: 'tenant' as const, id } },
      { ...day, at: NOW + 86_400_000 },
      { ...day, limits: { ...limits, maxCostUsd: { day: 9, month: null } } },
      { ...day, limits: { ...limits, maxCostUsd: { day: null, month: 10 } } },
    ]
    for (const each of [day, day, ...others, ...others, day]) await warn(each)
    await settle()
    expect(sentData()).toHaveLength(6)
    expect(new Set(sentData().map(({ id }) => id)).size).toBe(6)
    expect(sentData()).toContainEqual(expect.objectContaining({ agentId: id, limitUsd: 10 }))
  })

  it('is sent once, however many processes see it at the same time', async () => {
    const table = memoryTable()
    const first = open(table)
    const { organizationId } = first
    const processes = Array.from({ length: PROCESSES }, () => {
      const outbox = anOutbox(table, { organizationId, startedAt: NOW })
      for (const webhook of first.webhooks.values()) outbox.webhooks.set(webhook.id, webhook)
      return outbox
    })
    const spending = first.spending({ spent: { day: 9, month: 90 } })
    const stores = processes.flatMap((process) => [process.stores, process.stores])
    await Promise.all(stores.map(({ warnAtLimit }) => warnAtLimit(spending)))
    const messages = processes.flatMap((process) => process.messages())
    expect(messages).toHaveLength(2)
    for (const message of messages) await first.engine.queue.send(message)
    await first.settle()
    const periods = first.sentData().map(({ period }) => period)
    expect(periods.sort()).toEqual(['day', 'month'])
  })

  it('is sent once, whichever request of the process that writes it fails', async () => {
    for (const isCarriedOut of [false, true])
      for (const failing of ['put', 'message'] as const) {
        const table = memoryTable()
        let fails = true
        const put: Table['put'] = async (...args) => {
          if (!fails || failing !== 'put') return table.put(...args)
          if (isCarriedOut) await table.put(...args)
          throw new Error('The process has died.')
        }
        const outbox = open({ ...table, put })
        if (failing === 'message') outbox.setAccepting(false)
        await outbox.warn(outbox.spending())
        fails = false
        outbox.setAccepting(true)
        expect(outbox.messages()).toEqual([])
        // Another process, which finds more.
        const next = outbox.spending({ spent: { day: 9, month: 9 } })
        if (!isCarriedOut) await outbox.warn(next)
        await outbox.settle()
        const isStored = isCarriedOut || failing === 'message'
        expect(outbox.sentData(), `${failing} ${isCarriedOut}`).toMatchObject([
          { period: 'day', spentUsd: isStored ? 8 : 9 },
        ])
        await outbox.warn(next)
        await outbox.settle()
        expect(outbox.sent).toHaveLength(1)
      }
  })

  it('is not written without a destination that wants it, and is made up for when there is one', async () => {
    const unwanted = { types: ['execution.succeeded' as const, 'batch.ended' as const] }
    const { warn, spending, settle, sentData, ...outbox } = open(undefined, unwanted)
    await warn(spending())
    expect(outbox.messages()).toEqual([])
    outbox.addWebhook(WARNING)
    forgetWebhooks(outbox.organizationId)
    await warn(spending({ spent: { day: 9, month: 9 } }))
    await settle()
    expect(sentData()).toMatchObject([{ period: 'day', spentUsd: 9 }])
  })

  it('is not written without warnAt, nor without a cost limit', async () => {
    const { warn, spending, ...outbox } = open()
    const maxCostUsd = { day: 1, month: 1 }
    await warn(spending({ limits: { maxCostUsd, warnAt: null } }))
    await warn(spending({ limits: { maxCostUsd: { day: null, month: null }, warnAt: 0.1 } }))
    outbox.pass(2 * graceMs)
    await outbox.sweep()
    expect(outbox.messages()).toEqual([])
  })

  it('goes to webhooks that select its tenant or agent, or everything, whatever their sources', async () => {
    const agentId = system.newId()
    const destinationsOf = async (subject: Spending['subject']) => {
      const outbox = open(undefined, { enabled: false })
      const webhooks = {
        all: outbox.addWebhook(WARNING),
        tenant: outbox.addWebhook({ ...WARNING, tenantIds: ['acme', 'x'] }),
        otherTenant: outbox.addWebhook({ ...WARNING, tenantIds: ['globex'] }),
        agent: outbox.addWebhook({ ...WARNING, agentIds: [agentId] }),
        otherAgent: outbox.addWebhook({ ...WARNING, agentIds: [system.newId()] }),
        source: outbox.addWebhook({ ...WARNING, sources: ['SCHEDULE'] }),
        off: outbox.addWebhook({ ...WARNING, enabled: false }),
      }
      await outbox.warn(outbox.spending({ subject }))
      await outbox.settle()
      const ids = new Set(outbox.sent.map(({ destinationId }) => destinationId))
      return Object.entries(webhooks).flatMap(([name, { id }]) => (ids.has(id) ? [name] : []))
    }
    expect(await destinationsOf({ kind: 'tenant', id: 'acme' })).toEqual(['all', 'tenant', 'source'])
    expect(await destinationsOf({ kind: 'agent', id: agentId })).toEqual(['all', 'agent', 'source'])
  })

  it('is sent before the next model request if the process died that spent it, also if all is used up', async () => {
    const { settle, sentData, ...outbox } = open()
    const { organizationId, stores, engine } = outbox
    const subject = { kind: 'tenant' as const, id: 'acme' }
    const maxCostUsd = { day: 10, month: null }
    const updatedAt = new Date(NOW).toISOString()
    const limits = { ...NO_LIMITS, maxCostUsd, warnAt: 0.8, updatedAt }
    await stores.limits.put({ organizationId, subject, limits })
    await stores.limits.addSpent({ organizationId, subject, at: NOW, costUsd: 12 })
    const execution = anExecution({ organizationId, tenantId: 'acme' })
    const run = openRunLimits({ ...stores, system: engine.system }, execution)
    await expect(run?.check({ name: 'a/model' })).rejects.toMatchObject({ error: { code: 'BudgetExceeded' } })
    await settle()
    expect(sentData()).toMatchObject([{ tenantId: 'acme', period: 'day', spentUsd: 12 }])
  })

  it('expires with its deliveries where executions do', async () => {
    const table = memoryTable({ EXECUTION_RETENTION_DAYS: '30' })
    const { warn, spending, settle, sentData } = open(table)
    await warn(spending())
    await settle()
    const items = await itemsIn(table, warningKey(String(sentData()[0]?.id)).pk)
    expect(items.map(({ sk }) => String(sk).split('#')[0])).toEqual(['DELIVERY', 'HANDLED', 'WARNING'])
    for (const { ttl } of items) expect(Number(ttl) * 1000).toBeGreaterThan(NOW + 30 * 86_400_000)
  })
})
