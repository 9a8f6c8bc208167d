import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { agentStore } from '../../../lib/dynamodb/agent-store.ts'
import { executionStore } from '../../../lib/dynamodb/executions/execution-store.ts'
import { system } from '../../../lib/system.ts'
import { newCli } from '../../cli/cli.ts'
import { newOrganization, sharedTable, type TestOrganization } from '../../support/engine/organization.ts'
import {
  type ApiClient,
  createClient,
  getExecutionId,
  waitForExecution,
} from '../../support/service/client.ts'
import { temporaryServices } from '../../support/service/temporary-services.ts'

/** The agent's way to misbehave, and the codes that its execution may end with; null for SUCCESS. */
const HOSTILE: [how: string, codes: string[] | null][] = [
  ['busy loop', ['TimedOut']],
  ['process.exit', ['AgentFailed']],
  ['heap', ['AgentFailed']],
  ['unhandled rejection', ['AgentFailed']],
  ['rejection without waiting', ['AgentFailed']],
  ['deep recursion', ['AgentFailed']],
  ['1 GB output', ['OutputTooLarge', 'AgentFailed']],
  ['never settles', ['TimedOut']],
  ['leaked timers', null],
  ['patched globals', null],
  ['500 kB error', ['AgentFailed']],
]

const agents = agentStore(sharedTable())
const executions = executionStore(sharedTable())
/** Of the agent that those use which their time limit stops, and of the one for all others. */
const [shortVersion, longVersion] = [system.newId(), system.newId()]
const cli = newCli()
const services = temporaryServices()
let own: TestOrganization
let call: ApiClient

beforeAll(async () => {
  own = await newOrganization()
  // The lease of AWS: a starved worker may lose one of 15 s, which is not the agent's fault and counts as an attempt.
  const environment = { DYNAMODB_ENDPOINT: inject('dynamodb'), LEASE_SECONDS: '60' }
  const service = await services.start(services.newFolder(), environment)
  call = createClient(service.url, own.token, 120_000)
  await Promise.all([own.publish('unloadable'), own.publish('echo')])
  const hostile = await own.publish('hostile')
  const code = await agents.getCode({ agentId: hostile.agentId, versionId: hostile.id })
  const publish = (id: string, timeoutSeconds: number) =>
    agents.publish({ version: { ...hostile, id, execution: { ...hostile.execution, timeoutSeconds } }, code })
  await publish(shortVersion, 3)
  await publish(longVersion, 200)
})
afterAll(cli.remove)

const ended = async (id: string) => {
  const record = await waitForExecution(call, id, 120_000)
  const attempts = (await executions.get({ organizationId: own.id, id }))?.attempts
  return { status: record.status, code: record.error?.code ?? null, attempts }
}

const runSync = async (slug: string, input: object, query = '') =>
  ended(getExecutionId(await call('POST', `/v1/agents/${slug}/executions?${query}`, { body: input })))

const runAsync = async (slug: string, input: object, query = '') => {
  const { json } = await call('POST', `/v1/agents/${slug}/executions?execMode=async&${query}`, {
    body: input,
  })
  return ended(json.id)
}

describe('200 healthy runs', () => {
  it('succeed while every hostile agent runs, sync and async', async () => {
    const healthy = Array.from({ length: 200 }, (_, n) =>
      (n % 2 === 0 ? runSync : runAsync)('echo', { text: `healthy ${n}` }),
    )
    const hostile = HOSTILE.flatMap(([how, codes]) =>
      [runSync, runAsync].map(async (run) => {
        const query = `version=${codes?.includes('TimedOut') ? shortVersion : longVersion}`
        const { status, code, attempts } = await run('hostile', { how }, query)
        expect({ how, status, attempts }).toEqual({ how, status: codes ? 'ERROR' : 'SUCCESS', attempts: 1 })
        if (codes) expect(codes).toContain(code)
      }),
    )
    const unloadable = [runSync, runAsync].map(async (run) =>
      expect(await run('unloadable', { text: 'x' })).toEqual({
        status: 'ERROR',
        code: 'AgentFailed',
        attempts: 1,
      }),
    )
    const all = await Promise.allSettled([...hostile, ...unloadable])
    for (const result of await Promise.all(healthy))
      expect(result).toEqual({ status: 'SUCCESS', code: null, attempts: 1 })
    expect(all.filter(({ status }) => status === 'rejected')).toEqual([])
    expect((await call('GET', '/v1/healthcheck')).json).toEqual({ success: true })
  })
})
