import { describe, expect, it } from 'vitest'
import { approvalIdOfWait } from '../../lib/engine/waiting/approvals.ts'
import { executionTools } from '../../lib/mcp/execution-tools.ts'
import { newOrganization } from '../support/engine/organization.ts'
import { getExecutionId } from '../support/service/client.ts'
import { organizationWith } from '../support/service/organization-with.ts'
import { COLUMNS, openColumns } from '../support/service/token-columns.ts'
import { sendModern } from './messages.ts'

/** `hidden`: not listed, and unknown when called. `missing`: the resource does not exist. `none`: an empty list. */
type Expected = 'ok' | 'hidden' | 'missing' | 'none' | 'denied'

/**
 * Written by hand, as in test/contract/access.ts: the token that calls the tool of the agent `echo`
 * for the tenant `acme`, or asks for an execution of both.
 */
const MATRIX: Record<string, Expected[]> = {
  //                      run       read      manage    review    approve   same  tenant     agent      org
  echo: [/*           */ 'ok', 'hidden', 'hidden', 'hidden', 'hidden', 'ok', 'denied', 'hidden', 'hidden'],
  get_execution: [/*  */ 'hidden', 'ok', 'hidden', 'hidden', 'hidden', 'ok', 'missing', 'missing', 'missing'],
  cancel_execution: ['ok', 'hidden', 'hidden', 'hidden', 'hidden', 'ok', 'missing', 'missing', 'missing'],
  list_executions: [/**/ 'hidden', 'ok', 'hidden', 'hidden', 'hidden', 'ok', 'denied', 'none', 'none'],
  decide_approval: [/**/ 'hidden', 'hidden', 'hidden', 'hidden', 'ok', 'ok', 'missing', 'missing', 'missing'],
  send_signal: [/*    */ 'ok', 'hidden', 'hidden', 'hidden', 'hidden', 'ok', 'missing', 'missing', 'missing'],
}

/** The runs that tools need, if it is not one that has ended. */
const RUNS: Record<string, [slug: string, input: object]> = {
  decide_approval: ['asks', {}],
  send_signal: ['waits', { signal: 'go' }],
}

const org = await organizationWith('echo', 'counted', 'waits', 'asks')
const clients = await openColumns(org, await newOrganization())

const toParams = (name: string, executionId: string) => {
  if (name === 'echo') return { name, arguments: { text: 'secret' }, _meta: { tenantId: 'acme' } }
  if (name === 'list_executions') return { name, arguments: { tenantId: 'acme' } }
  if (name === 'send_signal') return { name, arguments: { executionId, name: 'go', data: 1 } }
  if (name === 'decide_approval')
    return { name, arguments: { executionId, approvalId: approvalIdOfWait('refund'), decision: 'approve' } }
  return { name, arguments: { executionId } }
}

it('has a row for every tool of the service', () => {
  expect(Object.keys(MATRIX)).toEqual(['echo', ...executionTools(1_000).keys()])
  for (const [name, row] of Object.entries(MATRIX)) expect(row, name).toHaveLength(COLUMNS.length)
})

const cells = Object.entries(MATRIX).flatMap(([name, row]) =>
  COLUMNS.map((column, i) => ({ name, column, expected: row[i] })),
)

describe.each(cells)('$name, $column', ({ name, column, expected }) => {
  it(`is ${expected}`, async () => {
    const [slug, input] = RUNS[name] ?? ['echo', { text: 'secret' }]
    const executionId = getExecutionId(await org.run(slug, input, 'tenantId=acme'))
    const message = await sendModern(clients[column], 'tools/call', toParams(name, executionId))
    const listed = (await sendModern(clients[column], 'tools/list', {})).result.tools
    expect(listed.some((tool: { name: string }) => tool.name === name)).toBe(expected !== 'hidden')
    if (expected === 'hidden') {
      expect(message.error).toEqual({ code: -32602, message: `Unknown tool: ${name}` })
    } else if (expected === 'missing') {
      const other = await sendModern(clients[column], 'tools/call', toParams(name, crypto.randomUUID()))
      expect(message.result).toMatchObject({ isError: true })
      expect(message).toEqual(other)
    } else if (expected === 'denied') {
      expect(JSON.stringify(message)).toContain('bound to another tenant')
      expect(message.result?.isError ?? message.error.code === -32602).toBe(true)
    } else {
      expect(message.result.isError).toBeFalsy()
      if (name === 'list_executions')
        expect(message.result.structuredContent.executions.length > 0).toBe(expected === 'ok')
    }
  })
})
