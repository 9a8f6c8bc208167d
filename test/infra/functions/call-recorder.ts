import {
  AUDIT_PREFIX,
  EXECUTION_PREFIX,
  MCP_AUDIT_PREFIX,
  RATE_PREFIX,
  SECRET_PREFIX,
  TOKEN_PREFIX,
} from '../../../lib/dynamodb/table/keys.ts'
import { type Behavior, startProxy } from '../../support/proxy/start-proxy.ts'

export type Calls = {
  table: string[]
  /** Prefixes of the keys of tokens and their counters that were updated. */
  updated: string[]
  /** Prefixes of the keys of entries of audit logs that were written. */
  audited: string[]
  indexes: string[]
  queue: string[]
  deliveryQueue: string[]
  /** Prefixes of the partition keys of all items that were written, in whatever way. */
  written: string[]
  /** Prefixes of the partition keys of all items that were read from the table itself. */
  read: string[]
  /** Calls that have a key of a secret. */
  secrets: string[]
}

const NO_CALLS = {
  table: [],
  updated: [],
  audited: [],
  indexes: [],
  queue: [],
  deliveryQueue: [],
  written: [],
  read: [],
  secrets: [],
}

/** Proxies between the AWS SDK and the emulators that record the calls of each client. */
export async function startCallRecorder({ dynamodb, sqs }: { dynamodb: string; sqs: string }) {
  const calls = new Map<string, Calls>()
  const record = (client: string, kind: keyof Calls, ...names: string[]) => {
    const { [kind]: recorded, ...others } = calls.get(client) ?? NO_CALLS
    calls.set(client, { ...NO_CALLS, ...others, [kind]: [...new Set([...recorded, ...names])].sort() })
  }
  const recordTable: Behavior = (request, next) => {
    const { operation, client } = request
    const parameters = JSON.parse(String(request.body))
    const { IndexName, Key } = parameters
    if (request.body.includes(`"${SECRET_PREFIX}`)) record(client, 'secrets', operation)
    record(client, 'written', ...writtenKeys(operation, parameters).map((key) => key.replace(/#.*/s, '#')))
    record(client, 'read', ...readKeys(operation, parameters).map((key) => key.replace(/#.*/s, '#')))
    // Of others, what updates tokens is a permission of its own.
    const own = client === 'authorize-request' ? [TOKEN_PREFIX] : [RATE_PREFIX]
    if (client === 'stream-events') own.push(EXECUTION_PREFIX)
    const prefix = own.find((each) => Key?.pk?.S.startsWith(each))
    const key: string | undefined = (parameters.Item?.pk ?? Key?.pk)?.S
    const audited = [AUDIT_PREFIX, MCP_AUDIT_PREFIX].find((text) => key?.startsWith(text))
    if (audited && ['PutItem', 'UpdateItem'].includes(operation)) record(client, 'audited', audited)
    else if (operation === 'Query' && IndexName) record(client, 'indexes', IndexName)
    else if (operation === 'UpdateItem' && prefix) record(client, 'updated', prefix)
    else record(client, 'table', operation)
    return next(request)
  }
  const refusing = new Set<string>()
  const recordQueue: Behavior = async (request, next) => {
    const { QueueUrl } = JSON.parse(String(request.body))
    // One permission is for both.
    const operation = request.operation.replace('MessageBatch', 'Message')
    record(request.client, QueueUrl.endsWith('-deliveries') ? 'deliveryQueue' : 'queue', operation)
    return refusing.has(request.client)
      ? { status: 400, headers: {}, body: Buffer.from('{}') }
      : next(request)
  }
  const table = await startProxy(dynamodb, recordTable)
  const queue = await startProxy(sqs, recordQueue)
  return {
    endpointsOf: async (client: string) => ({
      DYNAMODB_ENDPOINT: await table.urlFor(client),
      SQS_ENDPOINT: await queue.urlFor(client),
    }),
    /** Until it is called again, the queue refuses the messages of this client. */
    refuseMessages: (...clients: string[]) => {
      refusing.clear()
      for (const client of clients) refusing.add(client)
    },
    callsOf: (client: string): Calls => calls.get(client) ?? NO_CALLS,
    async stop(): Promise<void> {
      await Promise.all([table.stop(), queue.stop()])
    },
  }
}

type Parameters = ReturnType<typeof JSON.parse>

/** The partition keys of the items that a request to DynamoDB writes. */
function writtenKeys(action: string, { Item, Key, RequestItems = {} }: Parameters): string[] {
  if (action === 'PutItem') return [Item.pk.S]
  if (action === 'UpdateItem' || action === 'DeleteItem') return [Key.pk.S]
  if (action !== 'BatchWriteItem') return []
  const requests = Object.values<Parameters[]>(RequestItems).flat()
  return requests.map(({ PutRequest, DeleteRequest }) => (PutRequest?.Item ?? DeleteRequest.Key).pk.S)
}

/** The partition keys of the items that a request to DynamoDB reads from the table. */
function readKeys(action: string, { Key, RequestItems = {}, ...query }: Parameters): string[] {
  if (action === 'GetItem') return [Key.pk.S]
  if (action === 'BatchGetItem')
    return Object.values<Parameters>(RequestItems).flatMap(({ Keys }) =>
      Keys.map(({ pk }: Parameters) => pk.S),
    )
  if (action !== 'Query' || query.IndexName) return []
  const { KeyConditionExpression = '', ExpressionAttributeValues = {} } = query
  const [, partition = ''] = /(?:#?pk|#\w+) = (:\w+)/.exec(KeyConditionExpression) ?? []
  return [ExpressionAttributeValues[partition].S]
}
