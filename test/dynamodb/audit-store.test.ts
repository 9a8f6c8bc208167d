import { describe, expect, it } from 'vitest'
import { auditRecord, toAuditRecord } from '../../lib/contract/records/audit.ts'
import type { AuditEntry } from '../../lib/core/audit.ts'
import { toChanges, toShown } from '../../lib/core/audit-request.ts'
import { derivedId } from '../../lib/core/ids.ts'
import type { PageRequest } from '../../lib/core/ports/system.ts'
import { auditStore } from '../../lib/dynamodb/audit-store.ts'
import { auditKey } from '../../lib/dynamodb/table/keys.ts'
import { system } from '../../lib/system.ts'
import { aChange } from '../support/audit/a-change.ts'
import { EMULATORS, readPages, tableOn } from '../support/tables/emulators.ts'

const NOW = Date.parse('2026-11-26T08:00:00.000Z')
const DAY_MS = 86_400_000

describe.each(EMULATORS)('auditStore on %s', (emulator) => {
  const table = tableOn(emulator)
  const store = auditStore(table)

  /** An entry that is begun this long after `NOW`. */
  const begin = async (organizationId: string, overrides: Partial<AuditEntry> = {}, ms = 0) => {
    const entry: AuditEntry = {
      ...(aChange(organizationId) as AuditEntry),
      ...{ id: derivedId(NOW + ms, system.newId()), at: new Date(NOW + ms).toISOString() },
      ...{ result: 'STARTED', ...overrides },
    }
    expect(await store.begin({ entry, isMarked: false })).toBe(true)
    return entry
  }
  const listAll = async (organizationId: string, filter: object = {}, limit = 7) => {
    const list = (page: PageRequest) => store.list({ organizationId, ...filter, ...page })
    return (await readPages(list, limit, { mayBeEmpty: true })).items
  }

  it('lists entries of all interfaces newest first, and only those of the organization', async () => {
    const organizationId = system.newId()
    const entries: AuditEntry[] = []
    for (let i = 0; i < 60; i++) {
      const source = { interface: (['HTTP', 'MCP', 'CLI'] as const)[i % 3] ?? 'HTTP' }
      entries.push(await begin(organizationId, { source }, i))
    }
    await begin(system.newId())
    const newestFirst = entries.toReversed()
    expect(await listAll(organizationId)).toEqual(newestFirst)
    const between = await listAll(organizationId, { from: NOW + 10, before: NOW + 20 })
    expect(between).toEqual(newestFirst.slice(40, 50))
    for (const entry of entries.slice(0, 3)) {
      expect(await store.get(entry)).toEqual(entry)
      expect(await store.get({ ...entry, organizationId: system.newId() })).toBeNull()
      expect(await store.end({ entry: { ...entry, result: 'SUCCEEDED' } })).toBe(true)
      expect(await store.end({ entry: { ...entry, result: 'FAILED' } })).toBe(false)
      expect(await store.get(entry)).toEqual({ ...entry, result: 'SUCCEEDED' })
    }
  })

  it('finds what few of many entries have', async () => {
    const organizationId = system.newId()
    for (let i = 0; i < 120; i++) {
      const rare: Partial<AuditEntry> = { action: 'agent.archive', target: { kind: 'agent', id: `a${i}` } }
      await begin(organizationId, i % 50 === 0 ? rare : {}, i)
    }
    const found = await listAll(organizationId, { action: 'agent.archive' })
    expect(found.map(({ target }) => target.id)).toEqual(['a100', 'a50', 'a0'])
    expect(await listAll(organizationId, { target: 'a100' }, 1)).toHaveLength(1)
    expect(await listAll(organizationId, { target: 'a100', action: 'limits.put' })).toEqual([])
  })

  it('compares filters with IDs, subjects, agents and executions', async () => {
    const organizationId = system.newId()
    const version = { kind: 'version' as const, id: 'v', agentId: 'a' }
    const approval = { kind: 'approval' as const, id: 'p', executionId: 'e' }
    const actor = { kind: 'subject' as const, id: 's-id', name: 'Ada', subject: 'auth0|ada' }
    await begin(organizationId, { target: version })
    await begin(organizationId, { target: approval, actor })
    const count = async (filter: object) => (await listAll(organizationId, filter)).length
    for (const target of ['v', 'a', 'p', 'e']) expect(await count({ target }), target).toBe(1)
    for (const each of ['s-id', 'auth0|ada', organizationId])
      expect(await count({ actor: each }), each).toBe(1)
    for (const each of ['Ada', 'auth0', '']) expect(await count({ actor: each }), each).toBe(0)
  })

  it('has pages that a response can carry, however large entries are', async () => {
    const organizationId = system.newId()
    const list = Array(50).fill('🔑'.repeat(64))
    const lists = { types: list, agents: list, tenants: list, sources: list }
    const changes = toChanges('webhook.update', { url: 'https://a.example', ...lists, enabled: true })
    const [name, subject] = [toShown('n'.repeat(9_999)), toShown('s'.repeat(9_999), 500)]
    const actor = { kind: 'subject' as const, id: 'i', name, subject }
    for (let i = 0; i < 100; i++) await begin(organizationId, { action: 'webhook.update', changes, actor })
    const { items } = await store.list({ organizationId, limit: 100, after: null })
    expect(items).toHaveLength(100)
    expect(Buffer.byteLength(JSON.stringify(items))).toBeLessThan(2_000_000)
    expect(auditRecord.parse(toAuditRecord(items[0] as AuditEntry))).toBeTruthy()
  })

  it('keeps entries for 400 days from their time on, whatever becomes of them', async () => {
    const entry = await begin(system.newId())
    const expectTime = async () => {
      const item = await table.get(auditKey(entry.organizationId, entry.id, false), { consistent: true })
      expect(item?.ttl).toBe((NOW + 400 * DAY_MS) / 1000)
    }
    await expectTime()
    await store.end({ entry: { ...entry, result: 'SUCCEEDED' } })
    await expectTime()
  })
})
