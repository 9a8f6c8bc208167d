import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  type KeySchemaElement,
  ListTagsOfResourceCommand,
  ResourceNotFoundException,
  type TableDescription,
  type Tag,
  TagResourceCommand,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb'
import { clientConfig } from '../../lib/aws-sdk.ts'
import { INDEXES, type Index, TABLE } from '../../lib/dynamodb/table/schema.ts'

/** `fix` is absent if the setting is right, or cannot be changed. */
type Setting = { setting: string; state: string; isOk: boolean; fix?: () => Promise<unknown> }

export const describeTable = async (client: DynamoDBClient, TableName: string): Promise<TableDescription> =>
  (await client.send(new DescribeTableCommand({ TableName }))).Table ?? {}

export async function readTags(
  client: DynamoDBClient,
  { TableArn: ResourceArn }: TableDescription,
): Promise<Tag[]> {
  const tags: Tag[] = []
  let NextToken: string | undefined
  do {
    const page = await client.send(new ListTagsOfResourceCommand({ ResourceArn, NextToken }))
    tags.push(...(page.Tags ?? []))
    NextToken = page.NextToken
  } while (NextToken)
  return tags
}

/**
 * The settings of a table that a restore can lose or the service relies on. Deletion protection and tags have to be
 * those of the table that it was restored from, if that exists.
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_RestoreTableToPointInTime.html
 */
export function openTableSettings(TableName: string) {
  const client = new DynamoDBClient(clientConfig())

  const describe = (name: string) => describeTable(client, name)

  // Tags of AWS itself cannot be set.
  const readOwnTags = async (table: TableDescription): Promise<Tag[]> =>
    (await readTags(client, table)).filter(({ Key = '' }) => !Key.startsWith('aws:'))

  /** Null also for a table of another account or region. */
  async function findSource({
    TableArn,
    RestoreSummary,
  }: TableDescription): Promise<TableDescription | null> {
    const source = RestoreSummary?.SourceTableArn
    if (!source || regionOf(source) !== regionOf(TableArn ?? '')) return null
    return describe(source.split('/')[1] ?? '').catch((error: unknown) => {
      if (error instanceof ResourceNotFoundException) return null
      throw error
    })
  }

  async function checkTimeToLive(): Promise<Setting> {
    const { TimeToLiveDescription: found } = await client.send(new DescribeTimeToLiveCommand({ TableName }))
    const isOn = ['ENABLED', 'ENABLING'].includes(found?.TimeToLiveStatus ?? '')
    const specification = { AttributeName: TABLE.timeToLive, Enabled: true }
    const update = new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification: specification })
    return settingOf('time to live', isOn && found?.AttributeName === TABLE.timeToLive, () =>
      client.send(update),
    )
  }

  async function checkRecovery(): Promise<Setting> {
    const { ContinuousBackupsDescription: found } = await client.send(
      new DescribeContinuousBackupsCommand({ TableName }),
    )
    const status = found?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus
    const specification = { PointInTimeRecoveryEnabled: true }
    const update = { TableName, PointInTimeRecoverySpecification: specification }
    return settingOf('point-in-time recovery', status === 'ENABLED', () =>
      client.send(new UpdateContinuousBackupsCommand(update)),
    )
  }

  async function checkTags(table: TableDescription, source: TableDescription): Promise<Setting> {
    const [tags, wanted] = await Promise.all([readOwnTags(table), readOwnTags(source)])
    const Tags = wanted.filter(
      ({ Key, Value }) => !tags.some((tag) => tag.Key === Key && tag.Value === Value),
    )
    const names = Tags.map(({ Key }) => Key).join(', ')
    const tag = () => client.send(new TagResourceCommand({ ResourceArn: table.TableArn, Tags }))
    return {
      ...settingOf('tags', Tags.length === 0, tag),
      state: names ? `missing: ${names}` : 'as the source',
    }
  }

  /** Last: it makes the table UPDATING for a moment. */
  function checkProtection(table: TableDescription, source: TableDescription | null): Setting {
    const isOn = table.DeletionProtectionEnabled ?? false
    const isWanted = source?.DeletionProtectionEnabled ?? false
    const update = new UpdateTableCommand({ TableName, DeletionProtectionEnabled: true })
    const setting = settingOf('deletion protection', isOn || !isWanted, () => client.send(update))
    return { ...setting, state: isOn ? 'on' : 'off' }
  }

  return {
    async read(): Promise<Setting[]> {
      const table = await describe(TableName)
      const source = await findSource(table)
      return [
        ...checkKeys(table),
        await checkTimeToLive(),
        await checkRecovery(),
        ...(source ? [await checkTags(table, source)] : []),
        checkProtection(table, source),
      ]
    },
  }
}

const regionOf = (arn: string): string => arn.split(':').slice(3, 5).join(':')

const settingOf = (setting: string, isOk: boolean, fix: () => Promise<unknown>): Setting => ({
  setting,
  state: isOk ? 'on' : 'off',
  isOk,
  ...(!isOk && { fix }),
})

/** Keys cannot be changed, and a missing index would have to be built for hours: restore the table with its indexes. */
function checkKeys({ KeySchema, GlobalSecondaryIndexes = [] }: TableDescription): Setting[] {
  const isTable = hasKeys(KeySchema, TABLE.partitionKey, TABLE.sortKey)
  const indexes = Object.entries(INDEXES).map(([name, index]): Setting => {
    const found = GlobalSecondaryIndexes.find(({ IndexName }) => IndexName === name)
    const state = found ? (found.IndexStatus ?? 'ACTIVE') : 'missing'
    const { partitionKey, sortKey } = index
    const isOk =
      hasKeys(found?.KeySchema, partitionKey.name, sortKey.name) &&
      hasProjection(found?.Projection?.NonKeyAttributes, index)
    return {
      setting: `index ${name}`,
      state: found && !isOk ? 'other keys or attributes' : state,
      isOk: isOk && state === 'ACTIVE',
    }
  })
  return [{ setting: 'keys', state: isTable ? 'pk, sk' : 'other keys', isOk: isTable }, ...indexes]
}

const hasKeys = (schema: KeySchemaElement[] | undefined, ...names: string[]): boolean =>
  schema?.map(({ AttributeName }) => AttributeName).join() === names.join()

const hasProjection = (attributes: string[] | undefined, { projection }: Index): boolean =>
  projection.every((name) => attributes?.includes(name))
