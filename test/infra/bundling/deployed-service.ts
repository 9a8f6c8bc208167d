import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import type { SQSBatchResponse, SQSRecord } from 'aws-lambda'
import type { FunctionName } from '../../../infra/functions/function-settings.ts'
import { loadFolder } from '../../../lib/agents/load-folder.ts'
import { publishAgent } from '../../../lib/agents/publish-agent.ts'
import { type OperationName, operations } from '../../../lib/api/routes.ts'
import type { Version } from '../../../lib/core/agent.ts'
import type { AgentStore } from '../../../lib/core/ports.ts'
import { agentStore } from '../../../lib/dynamodb/agent-store.ts'
import { executionStore } from '../../../lib/dynamodb/execution-store.ts'
import { openTable } from '../../../lib/dynamodb/table.ts'
import { tokenStore } from '../../../lib/dynamodb/token-store.ts'
import { DYNAMODB_ENDPOINT, SQS_ENDPOINT } from '../../../lib/environment.ts'
import { system } from '../../../lib/system.ts'
import { newToken } from '../../../lib/tokens/token.ts'
import type { Authorizer } from '../../../local/authorize.ts'
import { startDynamoDB } from '../../../local/dynamodb.ts'
import { createGateway, type Handlers } from '../../../local/gateway.ts'
import { toRecord } from '../../../local/poller.ts'
import { provisionQueues, provisionTable } from '../../../local/provision.ts'
import { startSqs } from '../../../local/sqs.ts'
import type { Outcome } from '../../support/runtime-api.ts'
import { startScriptedModel } from '../../support/scripted-model/start-scripted-model.ts'
import { sqsSdkConfig } from '../../support/sdk.ts'
import { deployFunctions, httpResult, returned } from './deployed-functions.ts'

const TABLE = 'runtime'
const AGENTS = fileURLToPath(new URL('../../../agents', import.meta.url))

type Options = {
  /** The authorizer is asked once a token, as API Gateway does it for a minute; else for every request. */
  keepsAuthorization?: boolean
  /** Puts something between the functions and the table. */
  between?: (endpoint: string) => Promise<{ url: string; stop: () => Promise<unknown> }>
}

export type DeployedService = Awaited<ReturnType<typeof startDeployedService>>

/**
 * The stack on this machine: the deployed functions in processes of their own, emulators, a scripted model, and the
 * local gateway for API Gateway, whose events are those that it makes of requests. The agents of `agents` are published.
 */
export async function startDeployedService(options: Options = {}) {
  const stops: (() => Promise<unknown>)[] = []
  const stop = async () => {
    for (const each of stops) await each()
  }
  try {
    return { ...(await start(stops, options)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Adds to `stops`, in the order in which they are to be called, what has been started. */
async function start(stops: (() => Promise<unknown>)[], { between, keepsAuthorization }: Options) {
  const [dynamodb, queue, scripted] = await Promise.all([
    startDynamoDB(null),
    startSqs(),
    startScriptedModel(),
  ])
  stops.push(dynamodb.stop, queue.stop, scripted.stop)
  await provisionTable(dynamodb.endpoint, TABLE)
  const through = await between?.(dynamodb.endpoint)
  if (through) stops.unshift(through.stop)
  const queues = await provisionQueues(queue.endpoint, TABLE, 60)
  const functions = await deployFunctions({
    physical: { 'AWS::DynamoDB::Table': TABLE, 'AWS::SQS::Queue': queues.runs },
    extra: {
      [DYNAMODB_ENDPOINT]: through?.url ?? dynamodb.endpoint,
      [SQS_ENDPOINT]: queue.endpoint,
      ...scripted.environmentFor('openai-compatible'),
    },
  })
  stops.unshift(functions.stop)
  const sqs = new SQSClient(sqsSdkConfig(queue.endpoint))

  const last = new Map<FunctionName, Outcome>()
  const invoke = async (name: FunctionName, event: unknown): Promise<Outcome> => {
    const outcome = await functions.invoke(name, event)
    last.set(name, outcome)
    return outcome
  }

  const authorizer: Authorizer = async (event) => returned(await invoke('authorize-request', event))
  const names = Object.keys(operations) as OperationName[]
  const handlers = names.map((name) => [
    name,
    async (event: unknown) => httpResult(await invoke(name, event)),
  ])
  const gateway = createGateway({
    handlers: Object.fromEntries(handlers) as Handlers,
    authorizer: keepsAuthorization ? onceAToken(authorizer) : authorizer,
  })
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve))
  stops.unshift(async () => {
    gateway.closeAllConnections()
    gateway.close()
  })

  const table = openTable({ TABLE_NAME: TABLE, DYNAMODB_ENDPOINT: dynamodb.endpoint })
  const organizationId = system.newId()
  const made = newToken({
    system,
    organizationId,
    name: 'test',
    createdBy: organizationId,
    lifetimeMs: null,
  })
  await tokenStore(table).create({ token: made.token })
  const store = agentStore(table)
  const [wait] = await Promise.all([
    publish(store, organizationId, 'wait'),
    publish(store, organizationId, 'redact-pii'),
    publish(store, organizationId, 'summarize-text'),
  ])

  return {
    url: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`,
    token: made.text,
    organizationId,
    wait,
    table,
    executions: executionStore(table),
    queues,
    sqs,
    scripted,
    processOf: functions.processOf,
    /** How each process that was started has ended. */
    stopFunctions: functions.stop,
    invoke,
    /** The last answer of a function, as it left its process. */
    lastOf: (name: FunctionName): Outcome | undefined => last.get(name),
    /** The next message of a queue. @throws an Error when there is none for a second */
    async receive(QueueUrl: string): Promise<SQSRecord> {
      const { Messages = [] } = await sqs.send(
        new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 1, MessageSystemAttributeNames: ['All'] }),
      )
      if (!Messages[0]) throw new Error(`${QueueUrl} has no message.`)
      return toRecord(Messages[0])
    },
    deliver: async (name: FunctionName, record: SQSRecord): Promise<SQSBatchResponse> =>
      returned(await invoke(name, { Records: [record] })),
  }
}

function onceAToken(authorizer: Authorizer): Authorizer {
  const known = new Map<string, ReturnType<Authorizer>>()
  return (event) => {
    const { authorizationToken: token } = event
    const answer = known.get(token) ?? authorizer(event)
    known.set(token, answer)
    return answer
  }
}

async function publish(store: AgentStore, organizationId: string, slug: string): Promise<Version> {
  const { agent, problems } = await loadFolder(`${AGENTS}/${slug}`)
  if (!agent) throw new Error(JSON.stringify(problems))
  return publishAgent({ store, system, organizationId, createdBy: organizationId, agent, draft: false })
}
