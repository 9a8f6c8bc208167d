import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb'
import { GetQueueUrlCommand, ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs'
import { bundleFunctions } from '../../../infra/functions/bundle.ts'
import type { FunctionName } from '../../../infra/functions/function-settings.ts'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { requireEnv } from '../../../lib/environment.ts'
import type { Deployment } from '../../infra/bundling/invoke-deployed.ts'
import { findFunctionResource, findResources, synthesize } from '../../infra/synthesize.ts'
import { REGION } from '../emulators/moto.ts'

export const STACK = 'AgentExecutionService'

const endpoint = requireEnv('AWS_ENDPOINT_URL')
const SDK_VARIABLES = [
  'AWS_ENDPOINT_URL',
  'AWS_REGION',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'LEASE_SECONDS',
]

/** The table and the queues of the stack in moto, created from its template. Moto runs no functions. */
export async function createStack() {
  const bundles = mkdtempSync(join(tmpdir(), 'aes-drill-'))
  await Promise.all([bundleFunctions(bundles), createStorage()])
  const sqs = new SQSClient({ endpoint })
  const table = await findOwnTable()
  const queueNames = await listQueues(sqs)
  const sdk = Object.fromEntries(SDK_VARIABLES.map((name) => [name, requireEnv(name)]))

  /** The functions as a deployment with these settings configures them. */
  function deploy(context: Record<string, unknown>): Deployment {
    const template = synthesize(context)
    const urlOf = (logicalId: string) => {
      const name = queueNames.find((queue) => queue.startsWith(`${STACK}-${logicalId}-`))
      if (!name) throw new Error(`No queue ${logicalId}.`)
      return `${endpoint}/123456789012/${name}`
    }
    const resolve = (value: string | { Ref?: string }): string => {
      if (typeof value === 'string') return value
      if (value.Ref && value.Ref in findResources(template, 'AWS::DynamoDB::Table')) return table
      if (value.Ref && value.Ref in findResources(template, 'AWS::SQS::Queue')) return urlOf(value.Ref)
      return 'unknown'
    }
    const functionOf = (name: FunctionName) => {
      const { Variables } = findFunctionResource(template, 'AWS::Lambda::Function', name).Properties
        .Environment
      const variables = Object.entries<string>(Variables).map(([key, value]) => [key, resolve(value)])
      return { asset: join(bundles, name), environment: { ...Object.fromEntries(variables), ...sdk } }
    }
    const environment = functionOf('process-execution').environment as Record<string, string>
    return {
      table: openTable({ TABLE_NAME: environment.TABLE_NAME }),
      queues: { runs: environment.QUEUE_URL ?? '', deadLetters: '', deliveries: '' },
      sqs,
      functionOf,
      stop: async () => undefined,
    }
  }

  return { table, deploy, sqs, stop: () => rmSync(bundles, { recursive: true }) }
}

/** Only what moto needs for the drill, as CloudFormation creates it from the template. */
async function createStorage(): Promise<void> {
  const { Resources } = synthesize().toJSON()
  const storage = Object.entries<{ Type: string }>(Resources).filter(([, { Type }]) =>
    ['AWS::DynamoDB::Table', 'AWS::SQS::Queue'].includes(Type),
  )
  const body = new URLSearchParams({
    Action: 'CreateStack',
    Version: '2010-05-15',
    StackName: STACK,
    TemplateBody: JSON.stringify({ Resources: Object.fromEntries(storage) }),
  })
  const authorization = `AWS4-HMAC-SHA256 Credential=moto/20260101/${REGION}/cloudformation/aws4_request, SignedHeaders=host, Signature=none`
  const response = await fetch(endpoint, { method: 'POST', headers: { authorization }, body })
  if (!response.ok) throw new Error(await response.text())
}

async function findOwnTable(): Promise<string> {
  const { TableNames = [] } = await new DynamoDBClient().send(new ListTablesCommand())
  const [name, ...others] = TableNames.filter((each) => each.startsWith(`${STACK}-`))
  if (!name || others.length > 0) throw new Error(`The stack has the tables ${TableNames}.`)
  return name
}

async function listQueues(sqs: SQSClient): Promise<string[]> {
  const { QueueUrls = [] } = await sqs.send(new ListQueuesCommand())
  const names = QueueUrls.map((url) => url.split('/').at(-1) ?? '')
  for (const QueueName of names) await sqs.send(new GetQueueUrlCommand({ QueueName }))
  return names
}
