import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb'
import {
  DeleteMessageCommand,
  GetQueueUrlCommand,
  ListQueuesCommand,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import { bundleFunctions } from '../../../infra/functions/bundle.ts'
import type { FunctionName } from '../../../infra/functions/function-settings.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import { openTable, type Table } from '../../../lib/dynamodb/table/table.ts'
import { requireEnv } from '../../../lib/environment.ts'
import { system } from '../../../lib/system.ts'
import { toRecord } from '../../../local/runner/poller.ts'
import type { createInvoker, Deployment } from '../../infra/bundling/invoke-deployed.ts'
import { findFunctionResource, findResources, synthesize } from '../../infra/synthesize.ts'
import { aModelAgent, finalAnswer, httpTool, startToolServer } from '../../support/engine/model-agent.ts'
import { waitUntil } from '../../support/processes/processes.ts'
import { startScriptedModel } from '../../support/scripted-model/start-scripted-model.ts'
import { REGION } from '../emulators/start-server.ts'

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

/** Agents whose tool has an effect that must not be repeated, a server that counts it, and their models. */
export async function startPayingAgents({ table, organizationId }: { table: Table; organizationId: string }) {
  const held: (() => void)[] = []
  let isHolding = true
  const effects = await startToolServer((path, response) => {
    const respond = () => void response.end('{"ok":true}')
    if (isHolding && path.endsWith('-hold')) held.push(respond)
    else respond()
  })
  const scripted = await startScriptedModel()

  return {
    /** Configures the models. */
    environment: scripted.environmentFor('openai-compatible'),

    /** Path and idempotency key of the calls since the one with this number. */
    callsSince: (first: number) => effects.calls.slice(first).map(({ path, key }) => `${path} ${key}`),

    /** Calls whose path ends in `-hold` wait for their response until `release`. */
    waiting: () => held.length,
    release() {
      isHolding = false
      for (const respond of held) respond()
    },

    /**
     * Publishes an agent that makes these calls, one after the other, before it answers.
     * @param delegate slug of an agent that it calls instead
     */
    publish(slug: string, calls: string[], { delegate }: { delegate?: string } = {}) {
      const name = `${slug}-${system.newId()}`
      scripted.script(name, ({ history }) => {
        const next = history.filter(({ type }) => type === 'result').length
        const id = calls[next]
        if (id === undefined) return { calls: [finalAnswer({ answer: 'Done.' })] }
        const call = delegate ? { name: 'delegate', input: { question: id } } : { name: 'pay', input: { id } }
        return { calls: [{ id: `call-${next}`, ...call }] }
      })
      const tool = delegate
        ? { name: 'delegate', description: 'Delegates.', agent: delegate }
        : httpTool(effects, 'pay', `/${slug}/{id}`)
      const model = scripted.modelFor('openai-compatible', name)
      const tools = calls.length === 0 ? [] : [tool]
      return aModelAgent({ organizationId, slug, tools, model }, { table })
    },

    async stop() {
      await effects.stop()
      await scripted.stop()
    },
  }
}

/** Sweeps, and runs what the queues have, as the stack does, until nothing is open. */
export async function runUntilIdle(
  { sqs, table, functionOf }: Deployment,
  { invoke, deliver }: Pick<ReturnType<typeof createInvoker>, 'deliver' | 'invoke'>,
): Promise<void> {
  const { executions } = openStores(table)
  const { QUEUE_URL = '', MODEL_QUEUE_URL = '' } = functionOf('process-execution').environment

  async function processMessages(QueueUrl: string) {
    const options = { MaxNumberOfMessages: 10, MessageSystemAttributeNames: ['All' as const] }
    const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl, ...options }))
    for (const message of Messages) {
      const result = await deliver('process-execution', toRecord(message))
      const failures = result.mode === 'buffered' ? result.payload.batchItemFailures : [result]
      if (failures.length > 0) throw new Error(`Message failed: ${message.Body}`)
      await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message.ReceiptHandle }))
    }
  }

  await waitUntil(
    async () => {
      await invoke('sweep-executions', {})
      for (const queueUrl of [QUEUE_URL, MODEL_QUEUE_URL]) await processMessages(queueUrl)
      return (await executions.listStale({ now: Number.MAX_SAFE_INTEGER, limit: 1 })).length === 0
    },
    { what: 'the end of all executions', limitMs: 60_000, intervalMs: 100 },
  )
}
