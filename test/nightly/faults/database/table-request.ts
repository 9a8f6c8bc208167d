import type { AttributeValue } from '@aws-sdk/client-dynamodb'

export type WireItem = Record<string, AttributeValue>

/** The fields of requests to DynamoDB, and of its responses, that the harness reads. */
export type Wire = {
  Item?: WireItem
  Key?: WireItem
  Attributes?: WireItem
  ExpressionAttributeValues?: WireItem
  RequestItems?: Record<string, { PutRequest?: { Item: WireItem }; DeleteRequest?: { Key: WireItem } }[]>
  TransactItems?: { Put?: { Item: WireItem }; Update?: { Key: WireItem }; Delete?: { Key: WireItem } }[]
}

export const parseWire = (body: Buffer) => JSON.parse(body.toString() || '{}') as Wire

/** A request for one item: its operation, the keys of the item, and the rest of the body. */
export type ItemRequest = { operation: string; pk: string; sk: string; body: Wire }

const OPERATIONS = ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem']

/** Null for a request for several items. */
export function parseItemRequest(operation: string, body: Buffer): ItemRequest | null {
  if (!OPERATIONS.includes(operation)) return null
  const wire = parseWire(body)
  const { pk, sk } = wire.Key ?? wire.Item ?? {}
  return { operation, pk: pk?.S ?? '', sk: sk?.S ?? '', body: wire }
}

export const isCheckpoint = (sk: string | undefined) => sk?.startsWith('STEP#') ?? false
/** Of a model response or of a `context.step`, but not of the result of a call. */
export const isStep = (sk: string) => isCheckpoint(sk) && !sk.includes('#CALL#')
export const isRecord = (sk: string | undefined) => sk === 'RECORD'
