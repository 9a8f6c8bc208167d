import { DynamoDBClient, paginateListTables } from '@aws-sdk/client-dynamodb'
import { AgentError } from '../../clients/typescript/src/index.ts'
import { clientConfig } from '../../lib/aws-sdk.ts'
import type { Actor } from '../../lib/core/audit.ts'
import { toShown } from '../../lib/core/audit-request.ts'
import { Unavailable } from '../../lib/core/errors.ts'
import { AUDIT_RETENTION_DAYS as AUDIT_DAYS } from '../../lib/core/limits.ts'
import { fromSettingsTag, SETTINGS_TAG } from '../../lib/dynamodb/table/settings-tag.ts'
import type { Environment } from '../../lib/environment.ts'
import { MAX_ACTOR_CHARACTERS } from '../../local/development.ts'
import { UserError } from '../errors.ts'
import { describeTable, readTags } from './table-settings.ts'

/** CloudFormation appends the logical ID and random characters. Does not match the tables of a stack `<stack>-x`. */
const GENERATED_SUFFIX = /^-[A-Za-z0-9]+-[A-Z0-9]+$/

/**
 * Finds the name of a deployed stack's table by its prefix, so that the operator needs no CloudFormation permissions.
 * A retained table survives its stack: if there are several tables, `stack` may be the name of a table.
 * @throws UserError that lists the tables found
 */
export async function findStackTable(stack: string): Promise<string> {
  const names = await listTableNames()
  if (names.includes(stack)) return stack
  const prefixed = names.filter((candidate) => candidate.startsWith(`${stack}-`))
  const [name, ...others] = prefixed.filter((candidate) =>
    GENERATED_SUFFIX.test(candidate.slice(stack.length)),
  )
  if (name && others.length === 0) return name
  if (name) {
    const names = [name, ...others].join(', ')
    throw new UserError(`Stack ${stack} matches several tables: ${names}. Specify one of them with --stack.`)
  }
  const similar = prefixed.length > 0 ? ` Similar tables: ${prefixed.join(', ')}.` : ''
  throw new UserError(
    `No table found for stack ${stack} in this AWS account and region.${similar} Deploy the stack: npx cdk deploy --context stackName=${stack}`,
  )
}

async function listTableNames(): Promise<string[]> {
  const client = new DynamoDBClient(clientConfig())
  const names: string[] = []
  for await (const { TableNames = [] } of paginateListTables({ client }, {})) names.push(...TableNames)
  return names
}

/** For a table without the tag, such as a restored one that is not complete: nothing is lost. */
const UNKNOWN_SETTINGS = { AUDIT_RETENTION_DAYS: String(AUDIT_DAYS.max), EVENT_BUS: 'on' }

/** The settings of the stack, not those of this shell. */
export async function readTableSettings(tableName: string): Promise<Environment> {
  const client = new DynamoDBClient(clientConfig())
  try {
    const tags = await readTags(client, await describeTable(client, tableName))
    const tag = tags.find(({ Key }) => Key === SETTINGS_TAG)
    return tag ? fromSettingsTag(tag.Value ?? '') : UNKNOWN_SETTINGS
  } finally {
    client.destroy()
  }
}

/** The user can fix errors from AWS, and the SDK's errors about missing credentials or a missing region. */
export function explainAwsError(error: unknown): unknown {
  const thrown = error instanceof AgentError ? error.cause : error
  const cause = thrown instanceof Unavailable ? thrown.cause : thrown
  if (!(cause instanceof Error)) return error
  const isNotConfigured = 'tryNextLink' in cause || cause.message.includes('Region is missing')
  if (isNotConfigured)
    return new UserError(`AWS: ${cause.message}. Set AWS_PROFILE, or AWS_REGION and credentials.`)
  return '$metadata' in cause ? new UserError(`AWS: ${describeError(cause)}`) : error
}

/** An AggregateError of several connection attempts has a code but no message. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { name, message, code } = error as NodeJS.ErrnoException
  if (message === '') return code ?? name
  return name === 'Error' ? message : `${name}: ${message}`
}

/** Needs no permission. https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html */
export async function findAwsCaller(): Promise<Actor> {
  // On demand: only commands that change a stack need it.
  const { GetCallerIdentityCommand, STSClient } = await import('@aws-sdk/client-sts')
  const client = new STSClient(clientConfig())
  try {
    const { Arn } = await client.send(new GetCallerIdentityCommand({}))
    if (!Arn) throw new Error('the answer has no ARN')
    return { kind: 'cli', id: toShown(Arn, MAX_ACTOR_CHARACTERS) }
  } catch (error) {
    const { name, message } = error as Error
    throw new UserError(
      `Nothing was changed: AWS STS did not say who you are (${name}: ${message}). The audit log names the caller of each change, so that sts.amazonaws.com, or the endpoint of the region, must be reachable.`,
      { details: { code: 'CallerUnknown' } },
    )
  } finally {
    client.destroy()
  }
}
