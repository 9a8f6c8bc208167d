import { afterAll, beforeAll, beforeEach, expect, inject, it, vi } from 'vitest'
import { getOperation, type OperationName, operationNames } from '../../../lib/contract/routes.ts'
import { exampleOf, type Ids, newWorld } from '../../contract/world.ts'
import type { Call } from '../../fixtures/captured-events.ts'
import { type Fault, inject as injectFault } from '../../support/proxy/faults.ts'
import { startProxy } from '../../support/proxy/start-proxy.ts'
import { localCall } from '../../support/service/local-handlers.ts'

const callAs = localCall()
const world = await newWorld()
const proxy = await startProxy(inject('dynamodb'))

beforeAll(() => {
  vi.stubEnv('DYNAMODB_ENDPOINT', proxy.url)
  // Functions read it when they are loaded.
  vi.resetModules()
})
afterAll(async () => {
  await proxy.stop()
  vi.resetModules()
})

/** Operations on the table with the prefix of their keys, in their order. */
let sent: string[] = []
let fault: Fault | null = null
beforeEach(() => {
  fault = null
  sent = []
  proxy.use(
    injectFault(({ operation, body }) => {
      const { Item, Key, RequestItems, ExpressionAttributeValues } = JSON.parse(String(body))
      const key = Item?.pk?.S ?? Key?.pk?.S ?? ''
      const read = RequestItems || ExpressionAttributeValues ? '' : key
      const name = `${operation} ${(key || read).replace(/#.*/s, '#')}`.trim()
      sent.push(name)
      return name.includes('AUDIT') ? fault : null
    }),
  )
})

/** Calls an operation on ids that its path names. */
function call(name: OperationName, ids: Partial<Ids>, options: Partial<Call> = {}) {
  const named = Object.entries(ids).filter(([id]) => getOperation(name).path.includes(`{${id}}`))
  return callAs(name, { organizationId: world.org.id, ...Object.fromEntries(named), ...options })
}

/** A new token is told of after its entry. */
const recorded = operationNames.filter((name) => getOperation(name).audit && !name.endsWith('-token'))

const writesOf = (operations: string[]) =>
  operations.filter((each) => /^(Put|Update|Delete|BatchWrite)/.test(each))
const AUDIT = ['PutItem AUDIT#', 'UpdateItem AUDIT#']

/** The request of a successful call, and its response. */
async function succeed(name: OperationName) {
  const ids = await world.fresh(name)
  sent = []
  return call(name, ids, { body: exampleOf(name, ids).body })
}

it.each(recorded)('%s has 2 requests more: one before its writes, and one after them', async (name) => {
  const { status, text } = await succeed(name)
  expect(status, text).toBeLessThan(300)
  expect(sent.filter((each) => each.includes('AUDIT'))).toEqual(AUDIT)
  const writes = writesOf(sent)
  expect([writes[0], writes.at(-1)]).toEqual(AUDIT)
  expect(sent.at(-1)).toBe(AUDIT[1])
})

it.each(recorded)('%s writes nothing if it cannot be recorded', async (name) => {
  fault = 'reject'
  expect(await succeed(name)).toMatchObject({ status: 503, json: { code: 'Unavailable' } })
  const others = writesOf(sent).filter((each) => each !== AUDIT[0])
  // A tombstone refuses the record of an execution that a late write would create.
  expect(others).toEqual(name === 'run-schedule' ? ['PutItem EXEC#'] : [])
  const runs = await world.org.call('GET', '/v1/agents/echo/executions?source=SCHEDULE&fields=summary')
  if (name === 'run-schedule') expect(runs.json).toHaveLength(1)
})

it('does not record requests that are rejected before', async () => {
  const archive = (options: Partial<Call>) => call('archive-agent', world.ids, options)
  expect((await archive({ limits: { scopes: 'read' } })).status).toBe(403)
  expect((await archive({ limits: { agents: 'counted' } })).status).toBe(404)
  const bound = { limits: { tenantId: 'acme' } }
  expect((await call('put-tenant-limits', { tenantId: 'a' }, bound)).status).toBe(403)
  expect((await archive({ query: { unknown: '1' } })).status).toBe(400)
  expect(sent).toEqual([])
})
