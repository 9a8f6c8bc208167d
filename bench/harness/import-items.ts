import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGzip } from 'node:zlib'
import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { clientConfig } from '../../lib/aws-sdk.ts'
import { openTable, type Table } from '../../lib/dynamodb/table/table.ts'
import { DYNAMODB_ENDPOINT, TABLE_NAME } from '../../lib/environment.ts'
import { LOCAL_TABLE, provisionTable } from '../../local/emulators/provision.ts'
import { databaseFile, findDynoxide } from '../../local/emulators/start-emulators.ts'
import { startDynamoDB } from '../../test/support/service/port-emulators.ts'
import type { Workspace } from './workspace.ts'

type Store = (table: Table) => Promise<void>

/**
 * Fills the database of a data folder with the items that `store` writes with `writeMany`, through a file that dynoxide
 * imports: ten times as fast as `BatchWriteItem`. False where there is no dynoxide; then nothing is stored.
 */
export async function importItems(workspace: Workspace, folder: string, store: Store): Promise<boolean> {
  const binary = findDynoxide()
  if (!binary) return false
  const source = await workspace.createFolder()
  const [schema, items] = [join(source, 'schema.json'), join(source, 'items')]
  const data = join(items, LOCAL_TABLE, 'data')
  await writeFile(schema, JSON.stringify(await describeTable()))
  await mkdir(data, { recursive: true })
  const lines = createGzip({ level: 1 })
  const file = lines.pipe(createWriteStream(join(data, '0.json.gz')))
  const writeMany: Table['writeMany'] = async (writes) => {
    for (const write of writes) {
      if (!('put' in write)) throw new Error('Only puts can be imported.')
      const Item = marshall(write.put, { removeUndefinedValues: true })
      if (!lines.write(`${JSON.stringify({ Item })}\n`)) await once(lines, 'drain')
    }
  }
  const table = openTable({ [TABLE_NAME]: LOCAL_TABLE, [DYNAMODB_ENDPOINT]: 'http://127.0.0.1:1' })
  await store({ ...table, writeMany })
  lines.end()
  await finished(file)
  const options = ['--source', items, '--schema', schema, '--output', databaseFile(folder)]
  await promisify(execFile)(binary, ['import', ...options])
  return true
}

async function describeTable(): Promise<object> {
  const { endpoint, stop } = await startDynamoDB(null)
  try {
    await provisionTable(endpoint, LOCAL_TABLE)
    const client = new DynamoDBClient(clientConfig(endpoint))
    return { Table: (await client.send(new DescribeTableCommand({ TableName: LOCAL_TABLE }))).Table }
  } finally {
    await stop()
  }
}
