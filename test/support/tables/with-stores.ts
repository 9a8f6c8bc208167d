import { openStores, type Stores } from '../../../lib/dynamodb/open-stores.ts'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { openDatabase } from '../../../local/emulators/open-database.ts'
import { LOCAL_TABLE } from '../../../local/emulators/provision.ts'

/** Works on the local table of a data folder, as commands do. */
export async function withStores<T>(dataDir: string, work: (stores: Stores) => Promise<T>): Promise<T> {
  const database = await openDatabase('command', { DATA_DIR: dataDir })
  try {
    return await work(
      openStores(openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: database.endpoint })),
    )
  } finally {
    await database.stop()
  }
}
