import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import type { FunctionName } from '../../../infra/functions/function-settings.ts'
import { functionOf, type OperationName } from '../../../lib/contract/routes.ts'
import type { Table } from '../../../lib/dynamodb/table/table.ts'
import type { Queues } from '../../../local/emulators/provision.ts'
import { toRecord } from '../../../local/runner/poller.ts'
import { toGatewayEvent } from '../../fixtures/captured-events.ts'
import { type LambdaProcess, type Result, startLambda } from '../../support/processes/lambda-process.ts'

/** The stack on emulators. */
export type Deployment = {
  table: Table
  queues: Queues
  sqs: SQSClient
  /** The asset of a function, and its variables with the table and the queue of the deployment. */
  functionOf: (name: FunctionName) => { asset: string; environment: Record<string, string> }
  stop: () => Promise<void>
}

export type Call = Omit<Parameters<typeof toGatewayEvent>[1], 'organizationId'>

type Response = { statusCode: number; headers: Record<string, string>; body: string }

type Options = { organizationId: string; environment: Record<string, string | undefined> }

/**
 * Invokes the functions of a deployment as API Gateway and the event source mappings do, each in a process of its own
 * and from its asset alone.
 * @param options.environment more variables of every function
 */
export function createInvoker(deployment: Deployment, { organizationId, environment }: Options) {
  const folder = mkdtempSync(join(tmpdir(), 'aes-functions-'))
  const processes = new Map<FunctionName, LambdaProcess>()

  function start(name: FunctionName): LambdaProcess {
    const { asset, environment: variables } = deployment.functionOf(name)
    const copy = join(folder, name)
    cpSync(asset, copy, { recursive: true })
    return startLambda(join(copy, 'index.mjs'), { ...variables, ...environment } as Record<string, string>)
  }

  function invoke(name: FunctionName, event: unknown): Promise<Result> {
    const lambda = processes.get(name) ?? start(name)
    processes.set(name, lambda)
    return lambda.invoke(event)
  }

  const call = (name: OperationName, options: Call = {}): Promise<Result> =>
    invoke(functionOf(name), toGatewayEvent(name, { organizationId, ...options }))

  return {
    invoke,
    call,

    /** The parsed body of a response. */
    read: async (name: OperationName, options: Call = {}) =>
      JSON.parse(toResponse(await call(name, options)).body),

    /** The next message of a queue, as the event source mapping delivers it. @throws an Error when there is none */
    async receive(QueueUrl: string) {
      // Moto looks once per second, and ends without a last look.
      const options = { WaitTimeSeconds: 2, MessageSystemAttributeNames: ['All' as const] }
      const { Messages = [] } = await deployment.sqs.send(new ReceiveMessageCommand({ QueueUrl, ...options }))
      if (!Messages[0]) throw new Error(`${QueueUrl} is empty.`)
      return toRecord(Messages[0])
    },

    deliver: (name: FunctionName, record: object) => invoke(name, { Records: [record] }),

    invoked: () => [...processes.keys()],

    stop: () => {
      for (const lambda of processes.values()) lambda.stop()
      rmSync(folder, { recursive: true })
    },
  }
}

/** The HTTP response that API Gateway makes of a result. */
export function toResponse(result: Result): Response {
  if (result.mode === 'failed') throw new Error(result.message)
  return result.mode === 'buffered' ? result.payload : { ...result.prelude, body: result.body }
}
