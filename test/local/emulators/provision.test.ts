import { CreateTableCommand, DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { describe, expect, inject, it } from 'vitest'
import { clientConfig } from '../../../lib/aws-sdk.ts'
import { executionStore } from '../../../lib/dynamodb/executions/execution-store.ts'
import { INDEXES } from '../../../lib/dynamodb/table/schema.ts'
import { system } from '../../../lib/system.ts'
import { provisionTable } from '../../../local/emulators/provision.ts'
import { tableOn } from '../../support/tables/emulators.ts'

const emulator = 'dynamodb'

describe('provisionTable', () => {
  it('creates the indexes that an existing table does not have, and changes nothing else', async () => {
    const name = `old-${system.newId()}`
    const client = new DynamoDBClient(clientConfig(inject(emulator)))
    const attribute = (AttributeName: string) => ({ AttributeName, AttributeType: 'S' as const })
    await client.send(
      new CreateTableCommand({
        TableName: name,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [attribute('pk'), attribute('sk')],
        KeySchema: [
          { AttributeName: 'pk', KeyType: 'HASH' },
          { AttributeName: 'sk', KeyType: 'RANGE' },
        ],
      }),
    )
    const indexes = async () => {
      const { Table } = await client.send(new DescribeTableCommand({ TableName: name }))
      return Table?.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName).sort()
    }
    for (let times = 0; times < 2; times++) {
      await provisionTable(inject(emulator), name)
      expect(await indexes()).toEqual(Object.keys(INDEXES).sort())
    }
    const scope = { organizationId: 'ours', agentId: 'agent', tenantId: null }
    const store = executionStore(tableOn(emulator, name))
    expect(await store.listLessons({ ...scope, limit: 10 })).toEqual([])
  })
})
