import { beforeAll, describe, expect, it } from 'vitest'
import { getOperation, type OperationName } from '../../lib/contract/routes.ts'
import { isUuid } from '../../lib/core/ids.ts'
import type { TestOrganization } from '../support/engine/organization.ts'
import type { ApiClient } from '../support/service/client.ts'
import { COLUMNS, type Column } from '../support/service/token-columns.ts'
import { comparable, contractOperations, missingIds, newWorld, send, type World } from './world.ts'

/** 200 without the resource. */
const ABSENT = 'absent'
type Expected = number | typeof ABSENT

/** Written by hand, from the rules in docs/runs.md and not from the code. */
export const MATRIX: Partial<Record<OperationName, Expected[]>> = {
  //                       run  read manage review approve same tenant agent org
  'check-health': [/*    */ 200, 200, 200, 200, 200, 200, 200, 200, 200],
  'get-openapi-document': [200, 200, 200, 200, 200, 200, 200, 200, 200],
  // The service of this test has no identity provider.
  'get-resource-metadata': [404, 404, 404, 404, 404, 404, 404, 404, 404],
  'get-mcp-resource-metadata': [404, 404, 404, 404, 404, 404, 404, 404, 404],
  'get-me': [/*          */ 403, 200, 403, 403, 403, 200, 200, 200, 200],
  // Tools have a matrix of their own: test/mcp/isolation.slow.test.ts.
  'serve-mcp': [/*       */ 200, 200, 200, 200, 200, 200, 200, 200, 200],
  'list-agents': [/*     */ 403, 200, 403, 403, 403, 200, 200, ABSENT, ABSENT],
  'get-agent': [/*       */ 403, 200, 403, 403, 403, 200, 200, 404, 404],
  'get-agents-openapi': [/**/ 403, 200, 403, 403, 403, 200, 200, 200, 200],
  'get-agent-openapi': [/**/ 403, 200, 403, 403, 403, 200, 200, 404, 404],
  'list-versions': [/*   */ 403, 200, 403, 403, 403, 200, 200, 404, 404],
  // What belongs to all tenants is not for tokens that are bound to one.
  'publish-agent': [/*   */ 403, 403, 200, 403, 403, 403, 403, 403, 200],
  'archive-agent': [/*   */ 403, 403, 200, 403, 403, 403, 403, 404, 404],
  'restore-agent': [/*   */ 403, 403, 200, 403, 403, 403, 403, 404, 404],
  'get-version': [/*     */ 403, 200, 403, 403, 403, 403, 403, 404, 404],
  'delete-version': [/*  */ 403, 403, 204, 403, 403, 403, 403, 404, 404],
  'promote-version': [/* */ 403, 403, 200, 403, 403, 403, 403, 404, 404],
  'retire-version': [/*  */ 403, 403, 200, 403, 403, 403, 403, 404, 404],
  'unretire-version': [/**/ 403, 403, 200, 403, 403, 403, 403, 404, 404],
  'put-rollout': [/*     */ 403, 403, 200, 403, 403, 403, 403, 404, 404],
  'get-rollout': [/*     */ 403, 200, 403, 403, 403, 403, 403, 404, 404],
  'delete-rollout': [/*  */ 403, 403, 204, 403, 403, 403, 403, 404, 404],
  'run-agent': [/*       */ 200, 403, 403, 403, 403, 200, 403, 404, 404],
  'list-agent-executions': [403, 200, 403, 403, 403, 200, 403, 404, 404],
  'list-executions': [/* */ 403, 200, 403, 403, 403, 200, 403, ABSENT, ABSENT],
  'get-execution': [/*   */ 403, 200, 403, 403, 403, 200, 404, 404, 404],
  'list-steps': [/*      */ 403, 200, 403, 403, 403, 200, 404, 404, 404],
  'stream-events': [/*   */ 403, 200, 403, 403, 403, 200, 404, 404, 404],
  'delete-execution': [/**/ 403, 403, 204, 403, 403, 204, 404, 404, 404],
  'cancel-execution': [/**/ 200, 403, 403, 403, 403, 200, 404, 404, 404],
  // Needs the scopes run and read.
  'rerun-execution': [/* */ 403, 403, 403, 403, 403, 202, 404, 404, 404],
  'compare-executions': [/**/ 403, 200, 403, 403, 403, 200, 404, 404, 404],
  'send-signal': [/*     */ 202, 403, 403, 403, 403, 202, 404, 404, 404],
  'list-signals': [/*    */ 403, 200, 403, 403, 403, 200, 404, 404, 404],
  // Only its MAC counts.
  'send-callback': [/*   */ 404, 404, 404, 404, 404, 404, 404, 404, 404],
  'list-approvals': [/*  */ 403, 200, 403, 403, 200, 200, 403, ABSENT, ABSENT],
  'decide-approval': [/* */ 403, 403, 403, 403, 200, 200, 404, 404, 404],
  'list-webhooks': [/*   */ 403, 200, 403, 403, 403, 403, 403, ABSENT, ABSENT],
  'create-webhook': [/*  */ 403, 403, 201, 403, 403, 403, 403, 403, 201],
  'get-webhook': [/*     */ 403, 200, 403, 403, 403, 403, 403, 404, 404],
  'update-webhook': [/*  */ 403, 403, 200, 403, 403, 403, 403, 404, 404],
  'delete-webhook': [/*  */ 403, 403, 204, 403, 403, 403, 403, 404, 404],
  'rotate-webhook': [/*  */ 403, 403, 200, 403, 403, 403, 403, 404, 404],
  'test-webhook': [/*    */ 403, 403, 200, 403, 403, 403, 403, 404, 404],
  'list-deliveries': [/* */ 403, 200, 403, 403, 403, 403, 403, 404, 404],
  redeliver: [/*       */ 403, 403, 200, 403, 403, 403, 403, 404, 404],
  'list-limits': [/*     */ 403, 200, 200, 403, 403, 403, 403, ABSENT, ABSENT],
  // Those of a tenant belong to all agents.
  'get-tenant-limits': [/**/ 403, 200, 200, 403, 403, 403, 403, 403, 404],
  'put-tenant-limits': [/**/ 403, 403, 200, 403, 403, 403, 403, 403, 200],
  'delete-tenant-limits': [403, 403, 204, 403, 403, 403, 403, 403, 404],
  'get-agent-limits': [/* */ 403, 200, 200, 403, 403, 403, 403, 404, 404],
  'put-agent-limits': [/* */ 403, 403, 200, 403, 403, 403, 403, 404, 404],
  'delete-agent-limits': [/* */ 403, 403, 204, 403, 403, 403, 403, 404, 404],
  'list-audit-entries': [/* */ 403, 403, 200, 403, 403, 403, 403, 403, ABSENT],
  // A token sees those of its tenant and its agents, and creates none that may do more.
  'list-tokens': [/*     */ 403, 403, 200, 403, 403, 200, ABSENT, ABSENT, ABSENT],
  'create-token': [/*    */ 403, 403, 201, 403, 403, 201, 201, 201, 201],
  'revoke-token': [/*    */ 403, 403, 200, 403, 403, 200, 404, 404, 404],
  'list-schedules': [/*  */ 403, 200, 403, 403, 403, 403, 403, 404, 404],
  'put-schedule': [/*    */ 403, 403, 200, 403, 403, 403, 403, 404, 404],
  'get-schedule': [/*    */ 403, 200, 403, 403, 403, 403, 403, 404, 404],
  'delete-schedule': [/* */ 403, 403, 204, 403, 403, 403, 403, 404, 404],
  'run-schedule': [/*    */ 403, 403, 202, 403, 403, 403, 403, 404, 404],
  'start-batch': [/*     */ 202, 403, 403, 403, 403, 202, 403, 404, 404],
  'list-batches': [/*    */ 403, 200, 403, 403, 403, 200, 403, ABSENT, ABSENT],
  'get-batch': [/*       */ 403, 200, 403, 403, 403, 200, 404, 404, 404],
  'list-batch-results': [/* */ 403, 200, 403, 403, 403, 200, 404, 404, 404],
  'list-batch-executions': [403, 200, 403, 403, 403, 200, 404, 404, 404],
  'cancel-batch': [/*    */ 202, 403, 403, 403, 403, 202, 404, 404, 404],
  'retry-batch': [/*     */ 202, 403, 403, 403, 403, 202, 404, 404, 404],
  'delete-batch': [/*    */ 403, 403, 204, 403, 403, 204, 404, 404, 404],
  'start-trial': [/*     */ 403, 403, 202, 403, 403, 403, 403, 404, 404],
  'list-trials': [/*     */ 403, 200, 403, 403, 403, 403, 403, ABSENT, ABSENT],
  'get-trial': [/*       */ 403, 200, 403, 403, 403, 403, 403, 404, 404],
  'list-trial-items': [/**/ 403, 200, 403, 403, 403, 403, 403, 404, 404],
  'cancel-trial': [/*    */ 403, 403, 202, 403, 403, 403, 403, 404, 404],
  'delete-trial': [/*    */ 403, 403, 204, 403, 403, 403, 403, 404, 404],
  'get-usage': [/*       */ 403, 200, 403, 403, 403, 200, 403, 200, 200],
  'get-scores': [/*      */ 403, 200, 403, 403, 403, 200, 403, 200, 200],
  'get-agreement': [/*   */ 403, 200, 403, 403, 403, 200, 403, 200, 200],
  'give-feedback': [/*   */ 200, 403, 200, 200, 403, 200, 404, 404, 404],
}

/** Arrays that do not hold what the other lists are searched for. */
const NOT_SEARCHED: OperationName[] = [
  'list-steps',
  'list-signals',
  'list-schedules',
  'list-batch-executions',
  'list-trial-items',
  'list-versions',
  'get-usage',
  'get-scores',
  'get-agreement',
]

/** Requests that bring all that the record in their answer has of others. */
const BRINGS_INPUT: OperationName[] = ['run-agent', 'start-batch']
const READS: Column[] = ['read', 'same limits', 'other tenant', 'other agent', 'other org']

/** Whether an answer has the whole record of an execution, a batch or a trial, or what a token may see of it. */
function answersWith(name: OperationName, kind: 'whole' | 'seen', status?: number): boolean {
  const pattern = kind === 'whole' ? /^(Listed)?(Execution|Batch|Trial)$/ : /^Changed/
  return Object.entries(getOperation(name).responses).some(
    ([code, { body }]) => (status ?? Number(code)) === Number(code) && pattern.test(String(body)),
  )
}

type OpenClients = (org: TestOrganization, other: TestOrganization) => Promise<Record<Column, ApiClient>>

/**
 * The tests of a test file: each operation with the token of each column.
 * @param open the clients with the tokens
 * @param differences rows that differ from those of API tokens
 */
export function describeAccess(open: OpenClients, differences: typeof MATRIX = {}): void {
  const rows = { ...MATRIX, ...differences }
  let world: World
  let clients: Record<Column, ApiClient>

  beforeAll(async () => {
    world = await newWorld()
    clients = await open(world.org, world.other)
  })

  it('has a row for every operation', () => {
    expect(Object.keys(rows).sort()).toEqual([...contractOperations].sort())
    for (const [name, row] of Object.entries(rows)) expect(row, name).toHaveLength(COLUMNS.length)
  })

  it('answers only those who read, or who have brought it, with a whole record', () => {
    const needsNoRead = (name: OperationName) => rows[name]?.[COLUMNS.indexOf('read')] === 403
    const whole = contractOperations.filter((name) => answersWith(name, 'whole') && needsNoRead(name))
    // Reruns need the scope read, too.
    expect(whole.sort()).toEqual([...BRINGS_INPUT, 'rerun-execution'].sort())
  })

  describe.concurrent.each(contractOperations)('%s', (name) => {
    it.each(COLUMNS.map((column, i) => ({ column, expected: rows[name]?.[i] })))(
      'answers the token "$column" with $expected',
      async ({ column, expected }) => {
        const isRefused = typeof expected === 'number' && expected >= 400
        const ids = isRefused ? world.ids : await world.fresh(name)
        const response = await send(clients[column], name, ids)
        expect(response.status, response.text).toBe(expected === ABSENT ? 200 : expected)
        if (expected === 403) expect(response.json).toMatchObject({ code: 'Forbidden' })
        if (answersWith(name, 'seen', response.status) && !READS.includes(column))
          expect(Object.keys(response.json).sort()).toEqual(['id', 'status'])
        if (expected === 404) {
          const missing = await send(clients[column], name, missingIds(ids))
          expect(comparable(response)).toEqual(comparable(missing))
        }
        if (Array.isArray(response.json) && !NOT_SEARCHED.includes(name))
          expect(namesOneOf(response.json, Object.values(ids).filter(isUuid))).toBe(expected !== ABSENT)
        const rating = name === 'give-feedback' && !isRefused ? 1 : undefined
        if (getOperation(name).path.includes('{executionId}') && expected !== 204)
          expect((await world.org.getExecution(ids.executionId)).feedback?.rating).toBe(rating)
      },
    )
  })
}

type Target = { id?: string; executionId?: string; agentId?: string }
type Item = Target & { target?: Target; result?: string }

/** An entry of the audit log names its target: also one that was requested in vain. */
function namesOneOf(items: Item[], ids: string[]): boolean {
  const named = items.flatMap(({ target, result, ...item }) => [item, result === 'SUCCEEDED' ? target : null])
  return named.some((each) =>
    [each?.id, each?.executionId, each?.agentId].some((id) => id !== undefined && ids.includes(id)),
  )
}
