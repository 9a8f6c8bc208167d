import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQSClient } from '@aws-sdk/client-sqs'
import { bundleFunctions } from '../../../infra/functions/bundle.ts'
import type { FunctionName } from '../../../infra/functions/function-settings.ts'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { provisionQueues, provisionTable } from '../../../local/emulators/provision.ts'
import { startDynamoDB, startSqs } from '../../support/service/port-emulators.ts'
import { sdkConfig } from '../../support/tables/sdk.ts'
import { findFunctionResource, findResources, synthesize } from '../synthesize.ts'
import { describeDeployedFunctions } from './deployed-functions.ts'
import type { Deployment } from './invoke-deployed.ts'

const TABLE = 'deployed'

type Value = string | { Ref: string } | { 'Fn::FindInMap': [string, { Ref: 'AWS::Region' }, string] }

/** The table and the queues on the embedded emulators, and the variables that the template declares. */
async function deploy(): Promise<Deployment> {
  const folder = mkdtempSync(join(tmpdir(), 'aes-deployed-'))
  const template = synthesize({ httpPublishing: true })
  const [dynamodb, queue] = await Promise.all([startDynamoDB(null), startSqs()])
  await Promise.all([bundleFunctions(join(folder, 'bundles')), provisionTable(dynamodb.endpoint, TABLE)])
  const queues = await provisionQueues(queue.endpoint, TABLE, 60)
  const endpoints = { DYNAMODB_ENDPOINT: dynamodb.endpoint, SQS_ENDPOINT: queue.endpoint }

  function resolve(value: Value): string {
    if (typeof value === 'string') return value
    if ('Fn::FindInMap' in value) {
      const [map, , key] = value['Fn::FindInMap']
      return template.findMappings(map)[map]?.['eu-central-1'][key]
    }
    if (value.Ref in findResources(template, 'AWS::DynamoDB::Table')) return TABLE
    if (value.Ref in findResources(template, 'AWS::SQS::Queue')) return queues.runs
    throw new Error(`No emulator for ${value.Ref}.`)
  }

  function environmentOf(name: FunctionName): Record<string, string> {
    const { Variables } = findFunctionResource(template, 'AWS::Lambda::Function', name).Properties.Environment
    const resolved = Object.entries<Value>(Variables).map(([key, value]) => [key, resolve(value)])
    return { ...Object.fromEntries(resolved), ...endpoints }
  }

  return {
    table: openTable({ TABLE_NAME: TABLE, DYNAMODB_ENDPOINT: dynamodb.endpoint }),
    queues,
    sqs: new SQSClient(sdkConfig(queue.endpoint)),
    functionOf: (name) => ({ asset: join(folder, 'bundles', name), environment: environmentOf(name) }),
    stop: async () => {
      await dynamodb.stop()
      await queue.stop()
      rmSync(folder, { recursive: true })
    },
  }
}

describeDeployedFunctions(deploy)
