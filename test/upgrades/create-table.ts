import { randomUUID } from 'node:crypto'
import { DeleteTableCommand, DynamoDBClient, PutItemCommand, paginateScan } from '@aws-sdk/client-dynamodb'
import { provisionTable } from '../../local/emulators/provision.ts'
import { sdkConfig } from '../support/tables/sdk.ts'
import type { StoredItem } from './baseline-files.ts'

/** Creates a table of its own, which no other test or sweeper uses, with these items. */
export async function createTable(endpoint: string, items: StoredItem[] = []) {
  const client = new DynamoDBClient(sdkConfig(endpoint))
  const TableName = `baseline-${randomUUID()}`
  await provisionTable(endpoint, TableName)
  for (const Item of items) await client.send(new PutItemCommand({ TableName, Item }))
  return {
    name: TableName,

    /** All items, in the form in which they are stored. */
    async scan(): Promise<StoredItem[]> {
      const found: StoredItem[] = []
      for await (const { Items = [] } of paginateScan({ client }, { TableName, ConsistentRead: true }))
        found.push(...Items)
      return found
    },

    async delete(): Promise<void> {
      await client.send(new DeleteTableCommand({ TableName }))
      client.destroy()
    },
  }
}
