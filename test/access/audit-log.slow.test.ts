import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeEach, describe, expect, inject, it, vi } from 'vitest'
import { audited } from '../../lib/access/audit-log.ts'
import type { AuditEntry } from '../../lib/core/audit.ts'
import { Unavailable } from '../../lib/core/errors.ts'
import { AgentNotFound } from '../../lib/core/resource-errors.ts'
import { auditStore } from '../../lib/dynamodb/audit-store.ts'
import { openTable } from '../../lib/dynamodb/table/table.ts'
import { logger } from '../../lib/logger.ts'
import { system } from '../../lib/system.ts'
import { LOCAL_TABLE } from '../../local/emulators/provision.ts'
import { aChange } from '../support/audit/a-change.ts'
import { sharedTable } from '../support/engine/organization.ts'
import { type Fault, inject as injectFault } from '../support/proxy/faults.ts'
import { meterCapacity } from '../support/proxy/observe.ts'
import { startProxy } from '../support/proxy/start-proxy.ts'

const meter = meterCapacity()
const proxy = await startProxy(inject('dynamodb'))
const table = openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: proxy.url })
let organizationId: string
afterAll(() => proxy.stop())
beforeEach(() => {
  organizationId = system.newId()
  proxy.use(meter.behavior)
  meter.take()
  vi.spyOn(logger, 'warn').mockImplementation(() => undefined)
})

const entriesOf = async (id = organizationId): Promise<AuditEntry[]> =>
  (await auditStore(sharedTable()).list({ organizationId: id, limit: 100, after: null })).items

const make = <T>(change: () => Promise<T>) =>
  audited({ audit: auditStore(table), system }, aChange(organizationId), change)

/** Requests to the table with this operation have the fault. */
const failing = (operation: string, fault: Fault) =>
  proxy.use(injectFault((request) => (request.operation === operation ? fault : null)))

describe('audited', () => {
  it('stores the entry before the change and its result after it, with 2 writes and no other request', async () => {
    const during: AuditEntry[] = []
    const result = await make(async () => {
      during.push(...(await entriesOf()))
      return 'made'
    })
    expect(result).toBe('made')
    expect(during).toMatchObject([{ result: 'STARTED', changes: { warnAt: 0.5 } }])
    expect(await entriesOf()).toEqual([{ ...during[0], result: 'SUCCEEDED' }])
    const requests = { PutItem: 1, UpdateItem: 1 }
    expect(meter.take()).toEqual(expect.objectContaining({ requests, writeUnits: 2, readUnits: 0 }))
  })

  const FAULTS: [string, Fault][] = [
    ['is lost', 'drop'],
    ['is throttled', 'throttle'],
    ['is stored, but never answered', 'cut'],
  ]
  it.each(FAULTS)('makes no change if the first write %s', async (_, fault) => {
    failing('PutItem', fault)
    const change = vi.fn(async () => 'made')
    await expect(make(change)).rejects.toThrow(Unavailable)
    expect(change).not.toHaveBeenCalled()
    expect((await entriesOf()).filter(({ result }) => result !== 'STARTED')).toEqual([])
  })

  it.each(['cut', 'duplicate'] as const)(
    'makes one change if each write has the fault %s once',
    async (fault) => {
      const left = new Set(['PutItem', 'UpdateItem'])
      proxy.use(injectFault(({ operation }) => (left.delete(operation) ? fault : null)))
      const change = vi.fn(async () => 'made')
      expect(await make(change)).toBe('made')
      expect(change).toHaveBeenCalledTimes(1)
      expect(await entriesOf()).toMatchObject([{ result: 'SUCCEEDED' }])
    },
  )

  it.each(FAULTS.slice(0, 2))('answers as the change did if the second write %s', async (_, fault) => {
    failing('UpdateItem', fault)
    expect(await make(async () => 'made')).toBe('made')
    expect(await entriesOf()).toMatchObject([{ result: 'STARTED' }])
  })

  it('stores the code of the error of a change, and passes it on', async () => {
    const error = new AgentNotFound()
    await expect(make(() => Promise.reject(error))).rejects.toBe(error)
    expect(await entriesOf()).toMatchObject([{ result: 'FAILED', error: 'AgentNotFound' }])
  })

  it('stores what only the change knows', async () => {
    await audited(
      { audit: auditStore(table), system },
      aChange(organizationId, {
        action: 'webhook.create',
        target: { kind: 'webhook', id: null },
        changes: { url: 'https://receiver.example/secret', types: ['batch.ended'], secret: 'hunter2' },
      }),
      async (note) => note({ target: { id: 'new' }, enabled: true, secret: 'hunter2' }),
    )
    const [entry] = await entriesOf()
    expect(entry?.target).toEqual({ kind: 'webhook', id: 'new' })
    const changes = { url: 'https://receiver.example', types: ['batch.ended'], enabled: true }
    expect(entry?.changes).toEqual(changes)
  })
})

const MAIN = fileURLToPath(new URL('../support/audit/change-process-main.ts', import.meta.url))

/** Whether the change was made by a process that was killed. */
async function makeInProcess(point: 'before' | 'after') {
  const pk = `TEST#${organizationId}`
  const env = { ...process.env, TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: inject('dynamodb') }
  const child = spawn(process.execPath, [MAIN, organizationId, pk, point], { env, stdio: 'inherit' })
  const [, signal] = await once(child, 'close')
  const item = await sharedTable().get({ pk, sk: 'CHANGED' }, { consistent: true })
  return { made: item !== null, signal }
}

describe('a process that dies', () => {
  it.each([
    ['between the entry and the change', 'before', false],
    ['between the change and the result', 'after', true],
  ] as const)('%s leaves an entry without a result', async (_, point, made) => {
    expect(await makeInProcess(point)).toEqual({ made, signal: 'SIGKILL' })
    expect(await entriesOf()).toMatchObject([{ result: 'STARTED', action: 'limits.put' }])
  })
})
