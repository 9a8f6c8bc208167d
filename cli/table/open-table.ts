import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { AgentError } from '../../clients/typescript/src/index.ts'
import { audited, type Described, type Note } from '../../lib/access/audit-log.ts'
import { clientConfig } from '../../lib/aws-sdk.ts'
import { Unavailable } from '../../lib/core/errors.ts'
import { AUDIT_RETENTION_DAYS as AUDIT_DAYS } from '../../lib/core/limits.ts'
import { openStores, type Stores } from '../../lib/dynamodb/open-stores.ts'
import { fromSettingsTag, pickTableSettings, SETTINGS_TAG } from '../../lib/dynamodb/table/settings-tag.ts'
import { openTable } from '../../lib/dynamodb/table/table.ts'
import {
  AUDIT_RETENTION_DAYS,
  DYNAMODB_ENDPOINT,
  type Environment,
  EVENT_BUS,
  TABLE_NAME,
} from '../../lib/environment.ts'
import { system } from '../../lib/system.ts'
import { ensureDevelopmentOrganization } from '../../local/development.ts'
import { openDatabase } from '../../local/emulators/open-database.ts'
import { LOCAL_TABLE } from '../../local/emulators/provision.ts'
import { UserError } from '../errors.ts'
import { describeTarget } from '../format.ts'
import type { SharedOptions } from '../options.ts'
import { announce, useAndClose } from '../terminal.ts'
import { confirmDataFolder } from './confirm-data-folder.ts'
import { findStackTable } from './find-stack-table.ts'
import { type Caller, identifyCaller } from './identify-caller.ts'
import { describeTable, readTags } from './table-settings.ts'

type Change = Omit<Described, 'actor' | 'source'>

/** A table on which commands work. */
export type OpenTable = {
  stores: Stores
  /** The variables that select the table, with the settings of its service. */
  environment: Environment
  /** Asks AWS once. @throws UserError */
  identify: () => Promise<Caller>
  /** Makes a change that has no endpoint, and records it. @throws UserError, what the change throws */
  record: <T>(change: Change, work: (note: Note) => Promise<T>) => Promise<T>
}

type Opened = { environment: Environment; close: () => Promise<void> }

/** Opens the stack's table or the local one for `work`. */
export async function withTable<T>(
  options: SharedOptions,
  work: (table: OpenTable) => Promise<T>,
): Promise<T> {
  const { stack } = options
  await confirmDataFolder(options)
  announce(describeTarget(options), options)
  const opening = stack ? openDeployed(stack) : openLocal()
  try {
    return await useAndClose(opening, ({ environment }) => work(toTable(environment, stack)))
  } catch (error) {
    throw stack ? explainAwsError(error) : error
  }
}

/** Finds the name of the stack's table for `work`, which makes requests that are not about items. */
export async function withTableName<T>(
  options: SharedOptions & { stack: string },
  work: (name: string) => Promise<T>,
): Promise<T> {
  announce(describeTarget(options), options)
  try {
    return await work(await findStackTable(options.stack))
  } catch (error) {
    throw explainAwsError(error)
  }
}

function toTable(environment: Environment, stack: string | undefined): OpenTable {
  const stores = openStores(openTable(environment))
  let caller: Promise<Caller> | undefined
  const identify = () => {
    caller ??= identifyCaller(stack)
    return caller
  }
  return {
    stores,
    environment,
    identify,
    async record(change, work) {
      const described = { ...change, ...(await identify()) }
      const isMarked = Boolean(environment[EVENT_BUS])
      return audited({ audit: stores.audit, system, isMarked }, described, work)
    },
  }
}

async function openLocal(): Promise<Opened> {
  const emulator = await openDatabase('command').catch((error: unknown) => {
    throw new UserError(`Cannot open the local table. ${describeError(error)}`)
  })
  const names = { [TABLE_NAME]: LOCAL_TABLE, [DYNAMODB_ENDPOINT]: emulator.endpoint }
  const environment = { ...pickTableSettings(process.env), ...names }
  try {
    await ensureDevelopmentOrganization(openStores(openTable(environment)).organizations)
    return { environment, close: emulator.stop }
  } catch (error) {
    await emulator.stop()
    throw error
  }
}

/** Without an endpoint in the environment, the AWS SDK resolves region, credentials and endpoint. */
async function openDeployed(stack: string): Promise<Opened> {
  const name = await findStackTable(stack)
  const environment = { ...(await readTableSettings(name)), [TABLE_NAME]: name }
  return { environment, close: async () => undefined }
}

/** Of a table without the tag, such as a restored one that is not complete: nothing is lost. */
const UNKNOWN_SETTINGS = { [AUDIT_RETENTION_DAYS]: String(AUDIT_DAYS.max), [EVENT_BUS]: 'on' }

/** The settings of the stack, not those of this shell. */
async function readTableSettings(tableName: string): Promise<Environment> {
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
function explainAwsError(error: unknown): unknown {
  const thrown = error instanceof AgentError ? error.cause : error
  const cause = thrown instanceof Unavailable ? thrown.cause : thrown
  if (!(cause instanceof Error)) return error
  const isNotConfigured = 'tryNextLink' in cause || cause.message.includes('Region is missing')
  if (isNotConfigured)
    return new UserError(`AWS: ${cause.message}. Set AWS_PROFILE, or AWS_REGION and credentials.`)
  return '$metadata' in cause ? new UserError(`AWS: ${describeError(cause)}`) : error
}

/** An AggregateError of several connection attempts has a code but no message. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { name, message, code } = error as NodeJS.ErrnoException
  if (message === '') return code ?? name
  return name === 'Error' ? message : `${name}: ${message}`
}
