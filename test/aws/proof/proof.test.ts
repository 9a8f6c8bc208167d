import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PutMetricDataCommand } from '@aws-sdk/client-cloudwatch'
import { ListTablesCommand } from '@aws-sdk/client-dynamodb'
import {
  GetAliasCommand,
  GetFunctionCommand,
  GetFunctionConcurrencyCommand,
  GetFunctionConfigurationCommand,
} from '@aws-sdk/client-lambda'
import { SendMessageCommand } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LOCAL_TABLE, provisionTable } from '../../../local/emulators/provision.ts'
import { findStack, identify, openAccount } from '../../proof/aws/account.ts'
import { releaseCanary, releaseWithTimeout, throttleFunction } from '../../proof/aws/disturbances.ts'
import { claimStack, destroyStack } from '../../proof/aws/proof-stack.ts'
import { findFunction, listResources, type StackResource } from '../../proof/aws/stack-resources.ts'
import { prepareService } from '../../proof/checks/prepare.ts'
import { planProof } from '../../proof/plan.ts'
import { runProof } from '../../proof/run-proof.ts'
import { openStateFile } from '../../proof/state-file.ts'
import { startDynamoDB } from '../../support/service/port-emulators.ts'
import { startService } from '../../support/service/start-service.ts'
import { ACCOUNT, REGION } from '../emulators/start-server.ts'
import { PROOF_ID, STACK } from '../stack/deploy-stack.ts'

const account = openAccount()
const folder = mkdtempSync(join(tmpdir(), 'aes-proof-'))
const file = openStateFile(folder, STACK)
const identity = { account: ACCOUNT, region: REGION }
const state = {
  id: PROOF_ID,
  stack: STACK,
  ...identity,
  startedAt: new Date(Date.now() - 60_000).toISOString(),
}
let resources: StackResource[]

beforeAll(async () => {
  resources = await listResources(account, STACK)
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('a proof', () => {
  it('refuses a stack that exists, and records nothing', async () => {
    expect(await identify(account)).toEqual(identity)
    await expect(claimStack(account, { stack: STACK, identity, file })).rejects.toThrow(
      /exists.*choose another name/,
    )
    expect(file.read()).toBeNull()
  })

  it('refuses a stack whose earlier proof was not destroyed', async () => {
    const other = openStateFile(folder, 'other')
    const claimed = await claimStack(account, { stack: 'other', identity, file: other })
    expect(other.read()).toEqual(claimed)
    await expect(claimStack(account, { stack: 'other', identity, file: other })).rejects.toThrow(/--destroy$/)
    expect(await destroyStack(account, { state: claimed, identity, file: other })).toMatchObject({
      figures: { 'left in the account': expect.stringContaining('does not exist') },
    })
    expect(other.read()).toBeNull()
  })

  it.each([
    ['another proof', { ...state, id: 'another' }, identity, 'was not deployed by this proof'],
    ['another account', { ...state, account: '210987654321' }, identity, 'not in us-east-1 of 123456789012'],
    ['another region', state, { ...identity, region: 'eu-west-1' }, 'not in eu-west-1'],
  ])('does not destroy the stack of %s', async (_, claimed, where, message) => {
    await expect(destroyStack(account, { state: claimed, identity: where, file })).rejects.toThrow(message)
    expect(await findStack(account, STACK)).not.toBeNull()
  })
})

describe('the disturbances', () => {
  const { lambda } = account

  it('throttle a function, and restore the concurrency that it had', async () => {
    const FunctionName = findFunction(resources, 'run-agent')
    const reserved = async () =>
      (await lambda.send(new GetFunctionConcurrencyCommand({ FunctionName }))).ReservedConcurrentExecutions
    const before = await reserved()
    const outer = await throttleFunction(account, FunctionName)
    expect(await reserved()).toBe(0)
    const inner = await throttleFunction(account, FunctionName)
    await inner()
    expect(await reserved()).toBe(0)
    await outer()
    expect(await reserved()).toBe(before)
  })

  it('release a canary to a tenth of the invocations, and return to the version before', async () => {
    const FunctionName = findFunction(resources, 'run-agent')
    const live = () => lambda.send(new GetAliasCommand({ FunctionName, Name: 'live' }))
    const { FunctionVersion: before } = await live()
    const end = await releaseCanary(account, FunctionName)
    const { FunctionVersion, RoutingConfig } = await live()
    const weights = RoutingConfig?.AdditionalVersionWeights ?? {}
    expect([FunctionVersion, Object.values(weights)]).toEqual([before, [0.1]])
    expect(Object.keys(weights)).not.toContain(before)
    await end()
    const after = await live()
    expect([after.FunctionVersion, after.RoutingConfig?.AdditionalVersionWeights ?? {}]).toEqual([before, {}])
  })

  it('release runners that are killed, and return to the previous version', async () => {
    const FunctionName = findFunction(resources, 'process-execution')
    const live = () => lambda.send(new GetAliasCommand({ FunctionName, Name: 'live' }))
    const { FunctionVersion: before } = await live()
    const end = await releaseWithTimeout(account, FunctionName, 3)
    const { FunctionVersion: during } = await live()
    expect(during).not.toBe(before)
    const released = await lambda.send(new GetFunctionCommand({ FunctionName, Qualifier: during }))
    expect(released.Configuration?.Timeout).toBe(3)
    await end()
    expect((await live()).FunctionVersion).toBe(before)
    const { Timeout } = await lambda.send(new GetFunctionConfigurationCommand({ FunctionName }))
    expect(Timeout).toBe(900)
  })
})

describe('a whole proof, with the service on this machine in place of API Gateway and Lambda', () => {
  let database: Awaited<ReturnType<typeof startDynamoDB>>
  let service: Awaited<ReturnType<typeof startService>>
  let endpoint: { DYNAMODB_ENDPOINT: string }

  beforeAll(async () => {
    database = await startDynamoDB(null)
    await provisionTable(database.endpoint, LOCAL_TABLE)
    endpoint = { DYNAMODB_ENDPOINT: database.endpoint }
    service = await startService({
      dataDir: join(folder, 'data'),
      environment: { ...endpoint, AWS_ENDPOINT_URL: '' },
    })
  })
  afterAll(async () => {
    await service.stop()
    await database.stop()
  })

  type Changes = Partial<Parameters<typeof planProof>[0]>
  const planned = (onProgress: (line: string) => void, changes: Changes = {}) =>
    planProof({
      account,
      identity,
      state,
      file,
      minutes: 0.2,
      perSecond: 5,
      settleMinutes: 1,
      keep: false,
      signal: new AbortController().signal,
      onProgress,
      deploy: async () => undefined,
      prepare: async ({ tableName }) => {
        expect(tableName).toContain(STACK)
        return prepareService({ baseUrl: service.url, tableName: LOCAL_TABLE }, endpoint)
      },
      pauseShare: 0.1,
      ...changes,
    })

  /** What a proof changes in the account, beside the stack. */
  async function readChanges() {
    const { lambda, dynamodb } = account
    const functions = (['run-agent', 'process-execution'] as const).map((name) =>
      findFunction(resources, name),
    )
    const ofFunctions = functions.map(async (FunctionName) => {
      const { ReservedConcurrentExecutions: reserved } = await lambda.send(
        new GetFunctionConcurrencyCommand({ FunctionName }),
      )
      const alias = await lambda.send(new GetAliasCommand({ FunctionName, Name: 'live' }))
      const weights = alias.RoutingConfig?.AdditionalVersionWeights ?? {}
      return { reserved, version: alias.FunctionVersion, weights }
    })
    const { TableNames } = await dynamodb.send(new ListTablesCommand({}))
    return { functions: await Promise.all(ofFunctions), TableNames }
  }

  it.each([
    'deploy …',
    'smoke …',
    'acceptance …',
    'limits …',
    'load: runners throttled',
    'load: canary of run-agent, rolled back',
    'restore …',
    'figures …',
  ])('that is stopped at "%s" leaves the account as it was, and destroys the stack', async (at) => {
    const before = await readChanges()
    const stopping = new AbortController()
    let isDestroyed = false
    // The stack is needed again.
    const destroy = async () => {
      isDestroyed = true
      return {}
    }
    const stop = (line: string) => line === at && stopping.abort()
    const { passed, steps } = await runProof(planned(stop, { signal: stopping.signal, destroy }))
    expect([passed, isDestroyed, stopping.signal.aborted]).toEqual([false, true, true])
    expect(steps.at(-1)?.step).toBe('interrupted')
    expect(await readChanges()).toEqual(before)
  })

  it('passes, disturbs the stack, and destroys it', async () => {
    const lines: string[] = []
    const [queue = ''] = resources
      .filter(({ logicalId }) => logicalId.startsWith('Queue'))
      .map(({ id }) => id)
    await account.sqs.send(
      new SendMessageCommand({ QueueUrl: queue, MessageBody: '{}', MessageGroupId: 'any' }),
    )
    for (const Value of [3, 4])
      await account.cloudWatch.send(
        new PutMetricDataCommand({ Namespace: STACK, MetricData: [{ MetricName: 'Runs', Value }] }),
      )
    file.create(state)
    const report = await runProof(planned((line) => lines.push(line)))
    expect(report.steps.flatMap(({ problems }) => problems)).toEqual([])
    expect(report.passed).toBe(true)
    expect(report.steps.map(({ step }) => step)).toEqual([
      'deploy',
      'smoke',
      'acceptance',
      'limits',
      'load',
      'restore',
      'figures',
      'destroy',
    ])
    for (const name of [
      'runners throttled',
      'canary of run-agent, rolled back',
      'table throttled',
      'messages lost',
    ])
      expect(lines).toContain(`load: end of "${name}"`)
    expect(report.steps.at(-1)?.figures['left in the account']).toMatch(
      /^aws dynamodb delete-table --table-name Agent/,
    )
    expect(report.steps.find(({ step }) => step === 'figures')?.figures).toMatchObject({
      executions: 7,
      'server errors': 'no data',
    })
    expect(await findStack(account, STACK)).toBeNull()
    expect(existsSync(file.path)).toBe(false)
    const { TableNames = [] } = await account.dynamodb.send(new ListTablesCommand({}))
    expect(TableNames.filter((name) => name.includes('restored'))).toEqual([])
  })
})
