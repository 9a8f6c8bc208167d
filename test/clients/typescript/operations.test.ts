import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, expectTypeOf, inject, it } from 'vitest'
import type * as z from 'zod'
import {
  AgentError,
  type Batch,
  Client,
  type ErrorCode,
  type Execution,
  type ExecutionError,
  type Searched,
  type SucceededExecution,
  toFile,
  type Violation,
} from '../../../clients/typescript/src/index.ts'
import type { ExecutionFilters, RunParameters } from '../../../clients/typescript/src/options.ts'
import type { executionPageParameters } from '../../../lib/contract/parameters/executions.ts'
import type { runParameters } from '../../../lib/contract/parameters/runs.ts'
import { getOperation, type OperationName } from '../../../lib/contract/routes.ts'
import { INTERVAL_MS, startOf } from '../../../lib/core/usage.ts'
import { usageStore } from '../../../lib/dynamodb/usage-store.ts'
import { collect } from '../../support/data/collect.ts'
import { PDF, pdfOf } from '../../support/data/files.ts'
import { newOrganization, sharedTable } from '../../support/engine/organization.ts'
import { aUsageRow } from '../../support/usage/memory-usage.ts'
import { drop, json, scriptedService } from './scripted-service.ts'

/** What clients do not call: documents, pages, URLs of their own, and a protocol with clients of its own. */
type Others =
  | 'check-health'
  | 'get-mcp-resource-metadata'
  | 'get-agent-openapi'
  | 'get-agents-openapi'
  | 'get-openapi-document'
  | 'get-resource-metadata'
  | 'send-callback'
  | 'serve-console'
  | 'serve-mcp'

const ID = '01a2003a-d1f2-7169-a695-5ea4428d9251'

/** A call of each operation: the compiler names those that the client lacks. */
const CALLS: Record<Exclude<OperationName, Others>, (client: Client) => Promise<unknown>> = {
  'get-me': (client) => client.me(),
  'list-agents': (client) => client.agents().next(),
  'get-agent': (client) => client.agent('wait'),
  'publish-agent': (client) => client.publish({ document: '' }),
  'archive-agent': (client) => client.archive('wait'),
  'restore-agent': (client) => client.restore('wait'),
  'list-versions': (client) => client.versions('wait').next(),
  'get-version': (client) => client.version('wait', ID),
  'promote-version': (client) => client.promote('wait', ID),
  'retire-version': (client) => client.retire('wait', ID),
  'unretire-version': (client) => client.unretire('wait', ID),
  'delete-version': (client) => client.deleteVersion('wait', ID),
  'put-rollout': (client) => client.setRollout('wait', { versionId: ID, percent: 10 }),
  'get-rollout': (client) => client.rollout('wait'),
  'delete-rollout': (client) => client.endRollout('wait'),
  'run-agent': (client) => client.run('wait', {}),
  'list-agent-executions': (client) => client.executions({ agent: 'wait' }).next(),
  'list-executions': (client) => client.executions().next(),
  'get-execution': (client) => client.get(ID),
  'list-steps': (client) => client.steps(ID).next(),
  'stream-events': (client) => client.events(ID).next(),
  'cancel-execution': (client) => client.cancel(ID),
  'rerun-execution': (client) => client.rerun(ID),
  'compare-executions': (client) => client.compare(ID, ID),
  'delete-execution': (client) => client.delete(ID),
  'send-signal': (client) => client.signal(ID, 'paid'),
  'list-signals': (client) => client.signals(ID).next(),
  'list-approvals': (client) => client.approvals().next(),
  'decide-approval': (client) => client.decide(ID, ID, { decision: 'approve' }),
  'list-audit-entries': (client) => client.audit().next(),
  'list-webhooks': (client) => client.webhooks(),
  'create-webhook': (client) => client.createWebhook({ url: 'https://receiver.example' }),
  'get-webhook': (client) => client.webhook(ID),
  'update-webhook': (client) => client.updateWebhook(ID, { enabled: false }),
  'delete-webhook': (client) => client.deleteWebhook(ID),
  'rotate-webhook': (client) => client.rotateWebhook(ID),
  'test-webhook': (client) => client.testWebhook(ID),
  'list-deliveries': (client) => client.deliveries(ID).next(),
  redeliver: (client) => client.redeliver(ID, ID),
  'start-batch': (client) => client.createBatch('wait', []),
  'list-batches': (client) => client.batches().next(),
  'get-batch': (client) => client.getBatch(ID),
  'list-batch-results': (client) => client.batchResults({ id: ID, lines: 1 } as Batch).next(),
  'list-batch-executions': (client) => client.batchExecutions(ID).next(),
  'cancel-batch': (client) => client.cancelBatch(ID),
  'retry-batch': (client) => client.retryBatch(ID, { version: ID }),
  'delete-batch': (client) => client.deleteBatch(ID),
  'start-trial': (client) => client.createTrial('wait', ID, { maxTrialCostUsd: 1 }),
  'list-trials': (client) => client.trials().next(),
  'get-trial': (client) => client.getTrial(ID),
  'list-trial-items': (client) => client.trialItems(ID, { verdict: 'CHANGED' }).next(),
  'cancel-trial': (client) => client.cancelTrial(ID),
  'delete-trial': (client) => client.deleteTrial(ID),
  'list-limits': (client) => client.limits().next(),
  'get-tenant-limits': (client) => client.limitsOf({ tenantId: 'a/b?#%' }),
  'put-tenant-limits': (client) => client.setLimits({ tenantId: 'a/b?#%' }, { maxOpenExecutions: 1 }),
  'delete-tenant-limits': (client) => client.deleteLimits({ tenantId: 'a/b?#%' }),
  'get-agent-limits': (client) => client.limitsOf({ agent: 'wait' }),
  'put-agent-limits': (client) => client.setLimits({ agent: 'wait' }, {}),
  'delete-agent-limits': (client) => client.deleteLimits({ agent: 'wait' }),
  'list-tokens': (client) => client.tokens().next(),
  'create-token': (client) => client.createToken({ name: 'ci' }),
  'revoke-token': (client) => client.revokeToken(ID, { afterSeconds: 60 }),
  'list-schedules': (client) => client.schedules('wait').next(),
  'get-schedule': (client) => client.schedule('wait', 'nightly'),
  'put-schedule': (client) => client.setSchedule('wait', 'nightly', { cron: '@daily' }),
  'delete-schedule': (client) => client.deleteSchedule('wait', 'nightly'),
  'run-schedule': (client) => client.runSchedule('wait', 'nightly'),
  'get-usage': (client) => client.usage().next(),
  'get-scores': (client) => client.scores().next(),
  'get-agreement': (client) => client.agreement(),
  'give-feedback': (client) => client.feedback(ID, { rating: 1 }),
}

describe('Client', () => {
  /** The calls put these into `path`. */
  const VALUES: Record<string, string> = {
    agentId: 'wait',
    name: 'paid',
    scheduleName: 'nightly',
    tenantId: 'a%2Fb%3F%23%25',
  }

  it.each(Object.entries(CALLS))('calls %s', async (name, call) => {
    const { client, requests } = await scriptedService([json(400, {})], { maxRetries: 0 })
    await call(client).catch(() => undefined)
    const { method, path } = getOperation(name as OperationName)
    const expected = path.replace(/\{(\w+)\}/g, (_, parameter: string) => VALUES[parameter] ?? ID)
    expect(requests).toMatchObject([
      { method, path: expect.stringMatching(new RegExp(`^${expected}(\\?|$)`)) },
    ])
  })
})

it.each([0, 40, 32_769, 4_500_000])('toFile reads %i bytes', async (size) => {
  const data = size === 0 ? '' : pdfOf(size).slice(0, Math.ceil(size / 3) * 4)
  const bytes = Buffer.from(data, 'base64')
  const file = await toFile(new Blob([bytes], { type: 'application/pdf' }))
  expect(file.mediaType).toBe(PDF.mediaType)
  expect(file.data === data).toBe(true)
})

const EXAMPLE = fileURLToPath(new URL('../../../examples/typescript/invoices.ts', import.meta.url))

it('the example of invoices prints what tenants owe for a month, and for which runs it does not know the price', async () => {
  const own = await newOrganization()
  const start = startOf('minute', Date.now()) - INTERVAL_MS.minute
  const rows = [
    aUsageRow({ tenantId: 'acme', agentId: 'a', runs: 1_000, costNanoUsd: 100_000_000 }),
    aUsageRow({ tenantId: 'acme', agentId: 'b', runs: 1_000, costNanoUsd: 200_000_000 }),
    aUsageRow({ tenantId: 'globex', unpricedRuns: 1 }),
    aUsageRow({ costNanoUsd: 900_000_000_000 }),
  ]
  const slot = { organizationId: own.id, interval: 'minute', start, isFinal: false } as const
  await usageStore(sharedTable()).put({ ...slot, rows, readAt: Date.now() })
  const environment = { ...process.env, BASE_URL: inject('service'), API_TOKEN: own.token }
  const month = new Date(start).toISOString().slice(0, 7)
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [EXAMPLE, month], {
    env: environment,
  })
  expect(stdout).toBe('acme: 2000 runs, $2.36\nglobex: 1 runs, $0.00\n')
  expect(stderr).toBe('globex: 1 runs used a model without a price.\n')
})

const UNTIL = '2026-11-20T09:00:00.000Z'

const searched = (executions: number, until?: string, next?: string) => ({
  'X-Searched-Executions': String(executions),
  ...(until && { 'X-Searched-Until': until }),
  ...(next && { Link: `</v1/agent_executions?cursor=${next}>; rel="next"` }),
})

describe('executions with a search', () => {
  it('tell how far each page has looked, also an empty one', async () => {
    const { client } = await scriptedService([
      json(200, [], searched(2_000, UNTIL, 'b')),
      drop,
      json(200, [{ id: 'x' }], searched(7)),
    ])
    const told: Searched[] = []
    const list = client.executions({ errorText: 'timeout', onSearched: (each) => void told.push(each) })
    expect(await collect(list)).toEqual([{ id: 'x' }])
    expect(told).toEqual([
      { executions: 2_000, until: UNTIL },
      { executions: 7, until: null },
    ])
  })

  it('end with what the function throws, before another page is read', async () => {
    const { client, requests } = await scriptedService([json(200, [], searched(2_000, UNTIL, 'b'))])
    const onSearched = async ({ until }: Searched) => {
      if (until !== null) throw new Error('far enough')
    }
    await expect(collect(client.executions({ source: 'BATCH', onSearched }))).rejects.toThrow('far enough')
    expect(requests.map(({ path }) => path)).toEqual(['/v1/agent_executions?source=BATCH'])
  })
})

type Agents = {
  'redact-pii': { input: { content: string }; output: { redactedContent: string } }
  wait: { input: { seconds: number }; output: { waitedSeconds: number } }
}

const options = { baseUrl: 'http://127.0.0.1:1', token: 'x' }
const client = new Client<Agents>(options)
const untyped = new Client(options)

/** Checked by `tsc`, never run. */
const never = (_: () => unknown) => undefined

describe('types', () => {
  it('of a client with a map of agents', () => {
    never(async () => {
      expectTypeOf(await client.run('redact-pii', { content: 'x' })).toEqualTypeOf<{
        redactedContent: string
      }>()
      expectTypeOf(await client.start('wait', { seconds: 1 })).toEqualTypeOf<
        Execution<{ waitedSeconds: number }>
      >()
      const started = await client.start('wait', { seconds: 1 })
      expectTypeOf(await client.wait(started)).toEqualTypeOf<SucceededExecution<{ waitedSeconds: number }>>()
      expectTypeOf((await client.wait(started)).output.waitedSeconds).toBeNumber()
      expectTypeOf((await client.wait('id')).output).toEqualTypeOf<Record<string, unknown>>()
      for await (const { event, data } of client.stream('wait', { seconds: 1 }))
        if (event === 'done') expectTypeOf(data.output).toEqualTypeOf<{ waitedSeconds: number } | null>()
      // @ts-expect-error: no such agent
      client.run('redact', { content: 'x' })
      // @ts-expect-error: a field with another name
      client.run('redact-pii', { contents: 'x' })
      // @ts-expect-error: a field is missing
      client.run('redact-pii', {})
      // @ts-expect-error: a field of another type
      client.run('wait', { seconds: '1' })
      // @ts-expect-error: no such option
      client.run('wait', { seconds: 1 }, { cache: true })
      // @ts-expect-error: an output has no such field
      ;(await client.run('wait', { seconds: 1 })).seconds
    })
  })

  it('of a client without a map', () => {
    never(async () => {
      expectTypeOf(await untyped.run('any', { a: 1 })).toEqualTypeOf<Record<string, unknown>>()
      // @ts-expect-error: an input is an object
      untyped.run('any', 'text')
    })
  })

  it('of errors, by their code', () => {
    never((error: unknown = undefined) => {
      if (!(error instanceof AgentError)) return
      expectTypeOf(error.status).toBeNumber()
      expectTypeOf(error.message).toBeString()
      switch (error.code) {
        case 'ExecutionFailed':
          expectTypeOf(error.executionId).toBeString()
          expectTypeOf(error.error).toEqualTypeOf<ExecutionError>()
          break
        case 'InputSchemaMismatch':
          expectTypeOf(error.errors).toEqualTypeOf<Violation[]>()
          break
        case 'ClientTimeout':
          expectTypeOf(error.executionId).toEqualTypeOf<string | undefined>()
          break
        case 'Unauthorized':
          // @ts-expect-error: only some codes have an execution
          error.executionId
          break
        // @ts-expect-error: no such code
        case 'NoSuchCode':
          break
      }
      expectTypeOf<ErrorCode>().toExtend<typeof error.code>()
    })
  })
})

describe('the contract', () => {
  it('has the parameters of a run', () => {
    type Parameters = Omit<z.output<typeof runParameters>, 'execMode' | 'deltas'>
    expectTypeOf<RunParameters>().toEqualTypeOf<Parameters>()
  })

  it('has the filters of executions', () => {
    type Filters = Omit<z.output<typeof executionPageParameters>, 'cursor' | 'limit' | 'fields'>
    expectTypeOf<Omit<ExecutionFilters, 'agent'>>().toEqualTypeOf<Filters>()
  })
})
