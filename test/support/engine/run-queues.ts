import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs'
import { afterAll, inject } from 'vitest'
import type { Environment } from '../../../lib/environment.ts'
import { openRunQueue } from '../../../lib/sqs/run-queue.ts'
import { system } from '../../../lib/system.ts'
import { LOCAL_TABLE, provisionQueues } from '../../../local/emulators/provision.ts'
import { type Behavior, startProxy } from '../proxy/start-proxy.ts'
import { startSqs } from '../service/port-emulators.ts'
import { sdkConfig } from '../tables/sdk.ts'

const WORKER = fileURLToPath(new URL('../processes/batch-worker-main.ts', import.meta.url))

/** For a test file: the two run queues on an emulator, behind a proxy, and runners that receive from them. */
export async function startRunQueues(environment: Environment, leaseSeconds: number) {
  const sqs = await startSqs()
  const proxy = await startProxy(sqs.endpoint)
  const children = new Set<ChildProcess>()
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL')
    await proxy.stop()
    await sqs.stop()
  })
  const client = new SQSClient(sdkConfig(sqs.endpoint))

  /** New queues. */
  async function open() {
    const name = `runs-${system.newId()}`
    const names = { alone: name, shared: `${name}-model` }
    const [alone, shared] = await Promise.all(
      [names.alone, names.shared].map(async (each) => (await provisionQueues(sqs.endpoint, each, 900)).runs),
    )
    const urls = { alone: alone ?? '', shared: shared ?? '' }
    const variables = {
      QUEUE_URL: urls.alone,
      MODEL_QUEUE_URL: urls.shared,
      DELIVERY_QUEUE_URL: `${urls.alone}-deliveries`,
      SQS_ENDPOINT: proxy.url,
    }

    return {
      queue: openRunQueue({ ...variables, SQS_ENDPOINT: sqs.endpoint }),

      /** Messages that are visible, delayed or in flight. */
      async count(kind: keyof typeof urls): Promise<number> {
        const { Attributes = {} } = await client.send(
          new GetQueueAttributesCommand({ QueueUrl: urls[kind], AttributeNames: ['All'] }),
        )
        const {
          ApproximateNumberOfMessages: visible,
          ApproximateNumberOfMessagesNotVisible: inFlight,
          ApproximateNumberOfMessagesDelayed: delayed,
        } = Attributes
        return [visible, inFlight, delayed].reduce((sum, count) => sum + Number(count ?? 0), 0)
      },

      /** A runner that processes one batch. */
      receive(kind: keyof typeof urls, size: number) {
        const child = fork(WORKER, [urls[kind], names[kind], String(size)], {
          env: {
            ...process.env,
            ...environment,
            ...variables,
            TABLE_NAME: LOCAL_TABLE,
            DYNAMODB_ENDPOINT: inject('dynamodb'),
            LEASE_SECONDS: String(leaseSeconds),
            RETRY_BACKOFF_MS: '5000',
          },
        })
        children.add(child)
        const report = { receiveCounts: [] as string[], failures: Number.NaN }
        child.on('message', (part: object) => Object.assign(report, part))
        const exited = once(child, 'exit')
        return {
          ended: exited.then(() => report),
          async kill() {
            child.kill('SIGKILL')
            await exited
          },
        }
      },
    }
  }

  return { open, use: (...behaviors: Behavior[]) => proxy.use(...behaviors) }
}
