import { DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { openStores, type Stores } from '../../../lib/dynamodb/open-stores.ts'
import { type Item, openTable } from '../../../lib/dynamodb/table/table.ts'
import { openDatabase } from '../../../local/emulators/open-database.ts'
import { LOCAL_TABLE } from '../../../local/emulators/provision.ts'

/** Configuration of an SDK client for an emulator, with the SDK's default timeouts, which allow for long polls. */
export const sdkConfig = (endpoint: string) => ({
  endpoint,
  region: 'local',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
})

/** Every item of a table. */
export async function scanTable(endpoint: string, TableName: string): Promise<Item[]> {
  const client = new DynamoDBClient(sdkConfig(endpoint))
  const found: Item[] = []
  for await (const { Items = [] } of paginateScan({ client }, { TableName, ConsistentRead: true }))
    found.push(...Items.map((item) => unmarshall(item)))
  client.destroy()
  return found
}

/** Works on the local table of a data folder, as commands do. */
export async function withStores<T>(dataDir: string, work: (stores: Stores) => Promise<T>): Promise<T> {
  const database = await openDatabase('command', { DATA_DIR: dataDir })
  try {
    const table = openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: database.endpoint })
    return await work(openStores(table))
  } finally {
    await database.stop()
  }
}
