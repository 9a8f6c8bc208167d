import { setTimeout as sleep } from 'node:timers/promises'
import { DescribeTableCommand, UpdateTableCommand, waitUntilTableExists } from '@aws-sdk/client-dynamodb'
import {
  DeleteFunctionConcurrencyCommand,
  GetAliasCommand,
  GetFunctionConcurrencyCommand,
  GetFunctionConfigurationCommand,
  PublishVersionCommand,
  PutFunctionConcurrencyCommand,
  UpdateAliasCommand,
  UpdateFunctionConfigurationCommand,
  waitUntilFunctionUpdatedV2,
} from '@aws-sdk/client-lambda'
import { PurgeQueueCommand, PurgeQueueInProgress } from '@aws-sdk/client-sqs'
import type { Account } from './account.ts'
import { findFunction, findResource, type StackResource } from './stack-resources.ts'

/** Disturbs the service, and returns how to end that. */
export type Disturbance = { name: string; start: () => Promise<() => Promise<unknown>> }

const MAX_UPDATE_SECONDS = 300
const CANARY_SHARE = 0.1

/** What a proof does to a deployed service while it is under load. */
export function listDisturbances(account: Account, resources: StackResource[]): Disturbance[] {
  const runner = findFunction(resources, 'process-execution')
  const api = findFunction(resources, 'run-agent')
  const table = findResource(resources, 'AWS::DynamoDB::Table', 'Table')
  const queues = resources.filter(
    ({ type, logicalId }) => type === 'AWS::SQS::Queue' && !/^DeadLetter/.test(logicalId),
  )
  return [
    { name: 'runners throttled', start: () => throttleFunction(account, runner) },
    { name: 'run-agent throttled', start: () => throttleFunction(account, api) },
    { name: 'runners killed after 3 s', start: () => releaseWithTimeout(account, runner, 3) },
    { name: 'canary of run-agent, rolled back', start: () => releaseCanary(account, api) },
    { name: 'table throttled', start: () => throttleTable(account, table, 20) },
    {
      name: 'messages lost',
      start: () =>
        purgeQueues(
          account,
          queues.map(({ id }) => id),
        ),
    },
  ]
}

/** Lambda rejects every invocation of a function with a reserved concurrency of 0. */
export async function throttleFunction({ lambda }: Account, FunctionName: string) {
  const before = await lambda.send(new GetFunctionConcurrencyCommand({ FunctionName }))
  const { ReservedConcurrentExecutions: reserved } = before
  await lambda.send(new PutFunctionConcurrencyCommand({ FunctionName, ReservedConcurrentExecutions: 0 }))
  return () =>
    reserved === undefined
      ? lambda.send(new DeleteFunctionConcurrencyCommand({ FunctionName }))
      : lambda.send(
          new PutFunctionConcurrencyCommand({ FunctionName, ReservedConcurrentExecutions: reserved }),
        )
}

/**
 * Releases a version that Lambda kills after a few seconds, in the middle of longer runs, and returns to the previous
 * one: what a bad release and its rollback do.
 */
export async function releaseWithTimeout({ lambda }: Account, FunctionName: string, seconds: number) {
  const alias = { FunctionName, Name: 'live' }
  const { FunctionVersion } = await lambda.send(new GetAliasCommand(alias))
  const { Timeout } = await lambda.send(new GetFunctionConfigurationCommand({ FunctionName }))
  const configure = async (timeout: number | undefined) => {
    await lambda.send(new UpdateFunctionConfigurationCommand({ FunctionName, Timeout: timeout }))
    await waitUntilFunctionUpdatedV2({ client: lambda, maxWaitTime: MAX_UPDATE_SECONDS }, { FunctionName })
  }
  const restore = async () => {
    await lambda.send(new UpdateAliasCommand({ ...alias, FunctionVersion }))
    await configure(Timeout)
  }
  try {
    await configure(seconds)
    const { Version } = await lambda.send(new PublishVersionCommand({ FunctionName }))
    await lambda.send(new UpdateAliasCommand({ ...alias, FunctionVersion: Version }))
  } catch (error) {
    await restore()
    throw error
  }
  return restore
}

/** Releases a version to a tenth of the invocations, as CodeDeploy does, and returns to the one before. */
export async function releaseCanary({ lambda }: Account, FunctionName: string) {
  const alias = { FunctionName, Name: 'live' }
  const { FunctionVersion } = await lambda.send(new GetAliasCommand(alias))
  const { Description = '' } = await lambda.send(new GetFunctionConfigurationCommand({ FunctionName }))
  const describe = async (text: string) => {
    await lambda.send(new UpdateFunctionConfigurationCommand({ FunctionName, Description: text }))
    await waitUntilFunctionUpdatedV2({ client: lambda, maxWaitTime: MAX_UPDATE_SECONDS }, { FunctionName })
  }
  const shift = (AdditionalVersionWeights: Record<string, number>) =>
    lambda.send(
      new UpdateAliasCommand({ ...alias, FunctionVersion, RoutingConfig: { AdditionalVersionWeights } }),
    )
  const restore = async () => {
    await shift({})
    await describe(Description)
  }
  try {
    // Lambda publishes no version without a change.
    await describe(`${Description} (canary)`.slice(-256))
    const { Version = '' } = await lambda.send(new PublishVersionCommand({ FunctionName }))
    await shift({ [Version]: CANARY_SHARE })
  } catch (error) {
    await restore()
    throw error
  }
  return restore
}

/** Limits the table, not its indexes, to so many read and write units per second. */
export async function throttleTable({ dynamodb }: Account, TableName: string, units: number) {
  const { Table } = await dynamodb.send(new DescribeTableCommand({ TableName }))
  const { MaxReadRequestUnits = -1, MaxWriteRequestUnits = -1 } = Table?.OnDemandThroughput ?? {}
  const limit = async (OnDemandThroughput: { MaxReadRequestUnits: number; MaxWriteRequestUnits: number }) => {
    await dynamodb.send(new UpdateTableCommand({ TableName, OnDemandThroughput }))
    await waitUntilTableExists({ client: dynamodb, maxWaitTime: MAX_UPDATE_SECONDS }, { TableName })
  }
  await limit({ MaxReadRequestUnits: units, MaxWriteRequestUnits: units })
  return () => limit({ MaxReadRequestUnits, MaxWriteRequestUnits })
}

/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_PurgeQueue.html: once in 60 seconds. */
const PURGE_PAUSE_MS = 5_000
const MAX_PURGES = 14

/** Messages that are lost: the sweeper enqueues their executions again. */
export async function purgeQueues({ sqs }: Account, urls: string[]) {
  const purge = async (QueueUrl: string) => {
    for (let left = MAX_PURGES; ; left--)
      try {
        return await sqs.send(new PurgeQueueCommand({ QueueUrl }))
      } catch (error) {
        if (!(error instanceof PurgeQueueInProgress) || left === 0) throw error
        await sleep(PURGE_PAUSE_MS)
      }
  }
  for (const url of urls) await purge(url)
  return async () => undefined
}

/**
 * Disturbs a service again and again with pauses as long as the disturbances, and leaves it as it was.
 * @returns the problems with it
 */
export async function disturb(
  disturbances: Disturbance[],
  {
    durationMs,
    signal,
    onProgress,
  }: { durationMs: number; signal: AbortSignal; onProgress: (line: string) => void },
): Promise<string[]> {
  const problems: string[] = []
  const holdMs = durationMs / (2 * disturbances.length + 1)
  const pause = () => sleep(holdMs, undefined, { signal }).catch(() => undefined)
  await pause()
  for (const { name, start } of disturbances) {
    if (signal.aborted) break
    onProgress(`load: ${name}`)
    try {
      const end = await start()
      await pause()
      await end()
    } catch (error) {
      problems.push(`"${name}" failed: ${(error as Error).message}`)
    }
    onProgress(`load: end of "${name}"`)
    await pause()
  }
  return problems
}
