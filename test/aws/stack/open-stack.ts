import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  GetFunctionCommand,
  LambdaClient,
  ListEventSourceMappingsCommand,
  UpdateEventSourceMappingCommand,
} from '@aws-sdk/client-lambda'
import { GetQueueAttributesCommand, GetQueueUrlCommand, SQSClient } from '@aws-sdk/client-sqs'
import { FUNCTION_NAMES, type FunctionName } from '../../../infra/functions/function-settings.ts'
import { LIVE } from '../../../infra/functions/functions.ts'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { requireEnv } from '../../../lib/environment.ts'
import type { Deployment } from '../../infra/bundling/invoke-deployed.ts'
import { toLogicalIdPrefix } from '../../infra/synthesize.ts'
import { runCommand } from '../../support/processes/processes.ts'
import { motoEnvironment, startMoto } from '../emulators/start-server.ts'
import { listFunctions } from './aliases.ts'
import { deployStack, STACK } from './deploy-stack.ts'

/** Variables of the Lambda runtime, with which the SDK of a function finds moto. */
const SDK_VARIABLES = ['AWS_ENDPOINT_URL', 'AWS_REGION', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']

/** The stack of `deployStack`: its functions with the variables and the assets that moto stored for their aliases. */
export async function openStack(folder: string): Promise<Deployment> {
  const sdk = Object.fromEntries(SDK_VARIABLES.map((name) => [name, requireEnv(name)]))
  const lambda = new LambdaClient()
  const sqs = new SQSClient({ endpoint: requireEnv('AWS_ENDPOINT_URL') })
  await disableEventSources(lambda)
  const names = await listFunctions(lambda)

  const functions = new Map<FunctionName, ReturnType<Deployment['functionOf']>>()
  for (const name of FUNCTION_NAMES) {
    const prefix = `${STACK}-${toLogicalIdPrefix(name)}Function`
    const FunctionName = names.find((candidate) => candidate.startsWith(prefix))
    const { Code, Configuration } = await lambda.send(
      new GetFunctionCommand({ FunctionName, Qualifier: LIVE }),
    )
    const hash = /(\w+)\.zip/.exec(Code?.Location ?? '')?.[1]
    const { QUEUE_URL, MODEL_QUEUE_URL, DELIVERY_QUEUE_URL, ...variables } =
      Configuration?.Environment?.Variables ?? {}
    functions.set(name, {
      asset: join(folder, 'cdk.out', `asset.${hash}`),
      environment: {
        ...variables,
        ...(QUEUE_URL && { QUEUE_URL: toMoto(QUEUE_URL) }),
        ...(MODEL_QUEUE_URL && { MODEL_QUEUE_URL: toMoto(MODEL_QUEUE_URL) }),
        ...(DELIVERY_QUEUE_URL && { DELIVERY_QUEUE_URL: toMoto(DELIVERY_QUEUE_URL) }),
        ...sdk,
      },
    })
  }

  function functionOf(name: FunctionName) {
    const found = functions.get(name)
    if (!found) throw new Error(`The stack has no function ${name}.`)
    return found
  }

  const { QUEUE_URL: runs = '', DELIVERY_QUEUE_URL: deliveries = '' } = functionOf('run-agent').environment
  return {
    table: openTable(functionOf('run-agent').environment),
    queues: { runs, deadLetters: await findDeadLetters(sqs, runs), deliveries },
    sqs,
    functionOf,
    stop: async () => undefined,
  }
}

/** Moto would receive messages itself and fail, because it runs functions in Docker. The tests deliver them. */
async function disableEventSources(client: LambdaClient): Promise<void> {
  const { EventSourceMappings = [] } = await client.send(new ListEventSourceMappingsCommand())
  if (EventSourceMappings.length !== 4) throw new Error('The stack does not have four event source mappings.')
  for (const { UUID } of EventSourceMappings)
    await client.send(new UpdateEventSourceMappingCommand({ UUID, Enabled: false }))
}

/** Moto stores the URL of the queue on AWS, which the SDK would use instead of its endpoint. */
const toMoto = (queueUrl: string) => new URL(new URL(queueUrl).pathname, requireEnv('AWS_ENDPOINT_URL')).href

async function findDeadLetters(sqs: SQSClient, QueueUrl: string): Promise<string> {
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['RedrivePolicy'] }),
  )
  const { deadLetterTargetArn } = JSON.parse(Attributes?.RedrivePolicy ?? '{}')
  const QueueName = String(deadLetterTargetArn).split(':').at(-1)
  const found = await sqs.send(new GetQueueUrlCommand({ QueueName }))
  return toMoto(found.QueueUrl ?? '')
}

/**
 * Deploys the stack to moto, and tests the CLI and every function on it. Last, a proof takes it over and destroys it.
 * @param motoServer the command `moto_server`
 */
export async function testStack(motoServer: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'aes-stack-'))
  const moto = await startMoto(motoServer)
  try {
    const environment = motoEnvironment(moto)
    await deployStack(folder, environment)
    const config = ['--config', 'test/aws/stack/vitest.config.ts']
    for (const tests of ['test/aws/stack', 'test/aws/proof'])
      await runCommand('npx', ['vitest', 'run', ...config, tests], { ...environment, STACK_FOLDER: folder })
  } finally {
    await moto.stop()
    rmSync(folder, { recursive: true })
  }
}
