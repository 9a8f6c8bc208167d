import { RemovalPolicy } from 'aws-cdk-lib'
import { AttributeType, BillingMode, ProjectionType, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb'
import type { Key } from 'aws-cdk-lib/aws-kms'
import type { Construct } from 'constructs'
import { INDEXES, TABLE } from '../../lib/dynamodb/table/schema.ts'

const TYPES = { S: AttributeType.STRING, N: AttributeType.NUMBER }

/** Creates the single table from `lib/dynamodb/table/schema.ts`. It is retained when the stack is deleted. */
export function createTable(
  scope: Construct,
  { key, deletionProtection }: { key: Key | null; deletionProtection: boolean },
): Table {
  const table = new Table(scope, 'Table', {
    partitionKey: { name: TABLE.partitionKey, type: AttributeType.STRING },
    sortKey: { name: TABLE.sortKey, type: AttributeType.STRING },
    timeToLiveAttribute: TABLE.timeToLive,
    billingMode: BillingMode.PAY_PER_REQUEST,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    ...(key && { encryption: TableEncryption.CUSTOMER_MANAGED, encryptionKey: key }),
    deletionProtection,
    // Retained, but not by a first deployment that fails: the next one would leave it behind, empty.
    removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
  })
  for (const [indexName, { partitionKey, sortKey, projection }] of Object.entries(INDEXES)) {
    table.addGlobalSecondaryIndex({
      indexName,
      partitionKey: { name: partitionKey.name, type: TYPES[partitionKey.type] },
      sortKey: { name: sortKey.name, type: TYPES[sortKey.type] },
      ...(projection.length > 0
        ? { projectionType: ProjectionType.INCLUDE, nonKeyAttributes: projection }
        : { projectionType: ProjectionType.KEYS_ONLY }),
    })
  }
  return table
}
