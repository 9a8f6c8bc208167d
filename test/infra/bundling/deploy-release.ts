import { join } from 'node:path'
import { SQSClient } from '@aws-sdk/client-sqs'
import type { Template } from 'aws-cdk-lib/assertions'
import type { FunctionName } from '../../../infra/functions/function-settings.ts'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { provisionQueues, provisionTable } from '../../../local/emulators/provision.ts'
import { startDynamoDB, startSqs } from '../../support/service/port-emulators.ts'
import { sdkConfig } from '../../support/tables/sdk.ts'
import { findFunctionResource, findResources } from '../synthesize.ts'
import type { Deployment } from './invoke-deployed.ts'

const TABLE = 'deployed'

type Value = string | { Ref: string } | { 'Fn::FindInMap': [string, { Ref: 'AWS::Region' }, string] }

/** `bundles`: the output folder of `bundleFunctions`. `template`: declares the variables of the functions. */
export type Release = { bundles: string; template: Template }

/** The table and the queues of a stack on the embedded emulators, to which releases can be deployed. */
export async function provisionStack() {
  const [dynamodb, queue] = await Promise.all([startDynamoDB(null), startSqs()])
  await provisionTable(dynamodb.endpoint, TABLE)
  const queues = await provisionQueues(queue.endpoint, TABLE, 60)
  const endpoints = { DYNAMODB_ENDPOINT: dynamodb.endpoint, SQS_ENDPOINT: queue.endpoint }
  const sqs = new SQSClient(sdkConfig(queue.endpoint))
  const table = openTable({ TABLE_NAME: TABLE, DYNAMODB_ENDPOINT: dynamodb.endpoint })
  const stop = async () => {
    await dynamodb.stop()
    await queue.stop()
  }

  function deploy({ bundles, template }: Release): Deployment {
    function resolve(value: Value): string {
      if (typeof value === 'string') return value
      if ('Fn::FindInMap' in value) {
        const [map, , key] = value['Fn::FindInMap']
        return template.findMappings(map)[map]?.['eu-central-1'][key]
      }
      if (value.Ref in findResources(template, 'AWS::DynamoDB::Table')) return TABLE
      if (value.Ref in findResources(template, 'AWS::SQS::Queue'))
        return value.Ref.includes('DeliveryQueue') ? queues.deliveries : queues.runs
      throw new Error(`No emulator for ${value.Ref}.`)
    }

    function environmentOf(name: FunctionName): Record<string, string> {
      const { Variables } = findFunctionResource(template, 'AWS::Lambda::Function', name).Properties
        .Environment
      const resolved = Object.entries<Value>(Variables).map(([key, value]) => [key, resolve(value)])
      return { ...Object.fromEntries(resolved), ...endpoints }
    }

    const functionOf = (name: FunctionName) => ({
      asset: join(bundles, name),
      environment: environmentOf(name),
    })
    return { table, queues, sqs, functionOf, stop }
  }

  return { deploy, table, endpoints, stop }
}
