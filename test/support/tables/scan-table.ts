import { DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import type { Item } from '../../../lib/dynamodb/table/table.ts'
import { sdkConfig } from './sdk.ts'

/** Every item of a table. */
export async function scanTable(endpoint: string, TableName: string): Promise<Item[]> {
  const client = new DynamoDBClient(sdkConfig(endpoint))
  const found: Item[] = []
  for await (const { Items = [] } of paginateScan({ client }, { TableName, ConsistentRead: true }))
    found.push(...Items.map((item) => unmarshall(item)))
  client.destroy()
  return found
}
