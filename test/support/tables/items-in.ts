import type { Item, Table } from '../../../lib/dynamodb/table/table.ts'

/** Every item of a partition, in the order of their sort keys. */
export async function itemsIn(table: Pick<Table, 'query'>, pk: string): Promise<Item[]> {
  const query = { KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': pk } }
  return (await table.query({ ...query, ConsistentRead: true })).items
}
