import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib'
import { AttributeType, type ITable, ProjectionType, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb'
import { AnyPrincipal, PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { Key } from 'aws-cdk-lib/aws-kms'
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import { MAX_ATTEMPTS } from '../lib/core/limits.ts'
import { INDEXES, TABLE } from '../lib/dynamodb/table/schema.ts'
import { getFunctionSettings } from './functions/function-settings.ts'
import type { ServiceSettings } from './settings.ts'
import { type ThroughputSettings, throughputOf } from './throughput.ts'

type TableSettings = ThroughputSettings & Pick<ServiceSettings, 'deletionProtection'>

const TYPES = { S: AttributeType.STRING, N: AttributeType.NUMBER }

/** Creates the single table from `lib/dynamodb/table/schema.ts`. It is retained when the stack is deleted. */
export function createTable(
  scope: Construct,
  { key, settings }: { key: Key | null; settings: TableSettings },
): Table & ITable {
  const throughput = throughputOf(settings)
  const table = new Table(scope, 'Table', {
    partitionKey: { name: TABLE.partitionKey, type: AttributeType.STRING },
    sortKey: { name: TABLE.sortKey, type: AttributeType.STRING },
    timeToLiveAttribute: TABLE.timeToLive,
    ...throughput.capacity,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    ...(key && { encryption: TableEncryption.CUSTOMER_MANAGED, encryptionKey: key }),
    deletionProtection: settings.deletionProtection,
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
      ...throughput.capacityOfIndex,
    })
  }
  throughput.scale(table, Object.keys(INDEXES))
  // Its declared type lacks an `undefined` that exactOptionalPropertyTypes requires.
  return table as Table & ITable
}

/** Refers to a table with the same keys and indexes that the stack did not create. */
export const attachTable = (
  scope: Construct,
  { tableName, key }: { tableName: string; key: Key | null },
): ITable =>
  Table.fromTableAttributes(scope, 'AttachedTable', {
    tableName,
    globalIndexes: Object.keys(INDEXES),
    ...(key && { encryptionKey: key }),
  })

/** The maximum retention period of SQS. */
const DEAD_LETTER_RETENTION = Duration.days(14)

/** Messages that are older are of no use: the sweeper has sent others. One that is invalid is gone after this time. */
const DELIVERY_RETENTION = Duration.days(1)

/**
 * `queue`: of runs that have a worker to themselves. `modelQueue`: of runs that share one. `deliveryQueue`: of events
 * on their way to destinations.
 */
/**
 * How long a log group keeps its events. Those of a stack that was deleted expire as before, so that an incident can be
 * investigated after it; a retention of one day is that of stacks for tests.
 */
export const logGroupProps = ({ logRetentionDays }: Pick<ServiceSettings, 'logRetentionDays'>) => ({
  retention: logRetentionDays,
  removalPolicy: logRetentionDays === 1 ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
})

export type Queues = { queue: Queue; modelQueue: Queue; deadLetterQueue: Queue; deliveryQueue: Queue }

/** Creates the run queues with their dead-letter queue, and the delivery queue. */
export function createQueues(scope: Construct, key: Key | null): Queues {
  const security = {
    enforceSSL: true,
    ...(key
      ? { encryption: QueueEncryption.KMS, encryptionMasterKey: key }
      : { encryption: QueueEncryption.SQS_MANAGED }),
  }
  const deadLetterQueue = new Queue(scope, 'DeadLetterQueue', {
    ...security,
    retentionPeriod: DEAD_LETTER_RETENTION,
    // Six times the function timeout, as AWS recommends for event source mappings.
    visibilityTimeout: Duration.seconds(6 * getFunctionSettings('process-dead-letter').timeoutSeconds),
  })
  const runs = {
    ...security,
    // Lambda requires at least the function timeout. For a run of more than a second, the runner shortens it to
    // slightly more than the lease, so that the message of a dead worker is redelivered earlier.
    visibilityTimeout: Duration.seconds(getFunctionSettings('process-execution').timeoutSeconds),
    deadLetterQueue: { queue: deadLetterQueue, maxReceiveCount: MAX_ATTEMPTS },
  }
  return {
    queue: new Queue(scope, 'Queue', runs),
    modelQueue: new Queue(scope, 'ModelQueue', runs),
    deadLetterQueue,
    // Without a dead-letter queue: the sweeper sends a message again until its events are handled.
    deliveryQueue: new Queue(scope, 'DeliveryQueue', {
      ...security,
      retentionPeriod: DELIVERY_RETENTION,
      visibilityTimeout: Duration.seconds(getFunctionSettings('deliver-events').timeoutSeconds),
    }),
  }
}

/**
 * Creates the KMS key of the table and the queues. Every principal of the account can use it, but only through DynamoDB
 * and SQS, so that roles need no permission for the key itself. The key is retained with the table.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.usagenotes.html
 */
export function createKey(scope: Construct): Key {
  const { account, region, urlSuffix } = Stack.of(scope)
  const key = new Key(scope, 'Key', {
    description: 'Table and queues of the Agent Execution Service',
    enableKeyRotation: true,
    removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
  })
  key.addToResourcePolicy(
    new PolicyStatement({
      principals: [new AnyPrincipal()],
      actions: [
        'kms:CreateGrant',
        'kms:Decrypt',
        'kms:DescribeKey',
        'kms:Encrypt',
        'kms:GenerateDataKey*',
        'kms:ReEncrypt*',
      ],
      resources: ['*'],
      conditions: {
        StringEquals: {
          'kms:CallerAccount': account,
          'kms:ViaService': ['dynamodb', 'sqs'].map((service) => `${service}.${region}.${urlSuffix}`),
        },
      },
    }),
  )
  return key
}
