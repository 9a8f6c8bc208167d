import { hash } from 'node:crypto'
import { DeleteMessageCommand } from '@aws-sdk/client-sqs'
import type { FunctionName } from '../../../infra/functions/function-settings.ts'
import type { OperationName } from '../../../lib/contract/routes.ts'
import { toGatewayEvent } from '../../fixtures/captured-events.ts'
import {
  type Call,
  createInvoker,
  type Deployment,
  toResponse,
} from '../../infra/bundling/invoke-deployed.ts'
import type { BuiltRelease } from './build-release.ts'

export type OpenRelease = ReturnType<typeof openRelease>

const MAX_SHOWN = 100

/** Long texts as their length and hash: the difference of two is readable. */
export const abbreviate = (text: string): string =>
  text.length <= MAX_SHOWN ? text : `${text.length} characters, ${hash('sha256', text)}`

type Options = Parameters<typeof createInvoker>[1]

/** The functions of a release, deployed to a stack that other releases use at the same time. */
export function openRelease(release: BuiltRelease, deployment: Deployment, options: Options) {
  const invoker = createInvoker(deployment, options)
  const { organizationId } = options
  const { runs: QueueUrl } = deployment.queues

  async function call(operation: OperationName, call: Call = {}) {
    const name = release.functions[operation] as FunctionName
    const event = toGatewayEvent(operation, { organizationId, ...call })
    return toResponse(await invoker.invoke(name, event))
  }

  return {
    call,

    /** The parsed body of a response. @throws an Error unless its status is below 300 */
    async read(operation: OperationName, options: Call = {}) {
      const { statusCode, body } = await call(operation, options)
      if (statusCode >= 300) throw new Error(`${operation} responds with ${statusCode}: ${body}`)
      return JSON.parse(body, (_, value) => (typeof value === 'string' ? abbreviate(value) : value))
    },

    /** Delivers the next message, and deletes it unless the runner fails. @throws an Error if there is none */
    async runNext(): Promise<void> {
      const record = await invoker.receive(QueueUrl)
      const result = await invoker.deliver('process-execution', record)
      const isDone = result.mode === 'buffered' && result.payload.batchItemFailures.length === 0
      const { receiptHandle: ReceiptHandle } = record
      if (isDone) await deployment.sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }))
    },

    invoke: invoker.invoke,
    /** Kills the processes of the functions. The next call starts new ones. */
    stop: invoker.stop,
  }
}
