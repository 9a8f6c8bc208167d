import { existsSync } from 'node:fs'
import { DynamoDBClient, paginateListTables } from '@aws-sdk/client-dynamodb'
import { InvalidCallee, openWorkbench } from '../authoring/workbench.ts'
import type { LoadedAgent } from '../lib/agents/load-folder.ts'
import { clientConfig } from '../lib/aws-sdk.ts'
import type { Version } from '../lib/core/agent.ts'
import { Unavailable } from '../lib/core/errors.ts'
import { AUDIT_RETENTION_DAYS as AUDIT_DAYS } from '../lib/core/limits.ts'
import { openStores, type Stores } from '../lib/dynamodb/open-stores.ts'
import { fromSettingsTag, pickTableSettings, SETTINGS_TAG } from '../lib/dynamodb/table/settings-tag.ts'
import { openTable } from '../lib/dynamodb/table/table.ts'
import { DYNAMODB_ENDPOINT, type Environment, TABLE_NAME } from '../lib/environment.ts'
import { dataFolder } from '../local/data-folder.ts'
import { ensureDevelopmentOrganization } from '../local/development.ts'
import { openDatabase } from '../local/emulators/open-database.ts'
import { LOCAL_TABLE } from '../local/emulators/provision.ts'
import { findServices } from '../local/running-services.ts'
import { confirm } from './confirm.ts'
import { calleeError, UserError } from './errors.ts'
import { describeTarget, shellQuote } from './format.ts'
import type { SharedOptions } from './options.ts'
import { describeTable, readTags } from './table-settings.ts'
import { announce, onInterrupt } from './terminal.ts'

/** The stores of a table on which commands work, with the settings of its service. */
export type TableStores = Stores & { tableSettings: Environment }

type Opened<S = TableStores> = { stores: S; close: () => Promise<void> }

/** Opens the stack's table or the local one for `work`. */
export async function withStores<T>(
  options: SharedOptions,
  work: (stores: TableStores) => Promise<T>,
): Promise<T> {
  const { stack } = options
  await confirmDataFolder(options)
  announce(describeTarget(options), options)
  const opening = stack ? openDeployed(stack) : openLocal()
  try {
    return await useAndClose(opening, ({ stores }) => work(stores))
  } catch (error) {
    throw stack ? toUserError(error) : error
  }
}

/**
 * Asks before a data folder is created while a service runs on another one, which may be meant.
 * @throws UserError without a terminal, and if the answer is no
 */
export async function confirmDataFolder(options: SharedOptions): Promise<void> {
  const folder = dataFolder()
  if (options.stack || options.createDataFolder || process.env[DYNAMODB_ENDPOINT] || existsSync(folder))
    return
  const services = await describeServices(folder)
  if (services.length === 0) return
  const details = [`There is no data folder ${folder}.`, ...services].join('\n')
  if (!(await confirm('Create it?', details, '--create-data-folder')))
    throw new UserError('Nothing was created.')
  options.createDataFolder = true
}

export const describeServices = async (instead: string): Promise<string[]> =>
  (await findServices(instead)).map(
    ({ folder, url }) =>
      `The service at ${url} runs on ${folder}. To use it, set DATA_DIR=${shellQuote(folder)}`,
  )

/** Finds the name of the stack's table for `work`, which makes requests that are not about items. */
export async function withTableName<T>(
  options: SharedOptions & { stack: string },
  work: (name: string) => Promise<T>,
): Promise<T> {
  announce(describeTarget(options), options)
  try {
    return await work(await findStackTable(options.stack))
  } catch (error) {
    throw toUserError(error)
  }
}

/**
 * Opens a table in memory with an agent for `work`.
 * @throws UserError if an agent that it calls as a tool has problems
 */
export async function withWorkbench<T>(
  folder: string,
  agent: LoadedAgent,
  work: (stores: Stores, version: Version) => Promise<T>,
): Promise<T> {
  try {
    return await useAndClose(openWorkbench(folder, agent), ({ stores, version }) => work(stores, version))
  } catch (error) {
    throw error instanceof InvalidCallee ? calleeError(error.slug, error.problems) : error
  }
}

/** Closes what was opened after `use`, also on errors and on Ctrl-C. */
async function useAndClose<O extends Opened<Stores>, T>(
  opening: Promise<O>,
  use: (opened: O) => Promise<T>,
): Promise<T> {
  let closing: Promise<void> | undefined
  const closeOnce = () => {
    closing ??= opening.then(
      ({ close }) => close(),
      () => undefined,
    )
    return closing
  }
  const removeCleanup = onInterrupt(closeOnce)
  try {
    return await use(await opening)
  } finally {
    await closeOnce()
    removeCleanup()
  }
}

async function openLocal(): Promise<Opened> {
  const emulator = await openDatabase('command').catch((error: unknown) => {
    throw new UserError(`Cannot open the local table. ${describeError(error)}`)
  })
  const tableSettings = pickTableSettings(process.env)
  const names = { [TABLE_NAME]: LOCAL_TABLE, [DYNAMODB_ENDPOINT]: emulator.endpoint }
  const stores = { ...openStores(openTable({ ...tableSettings, ...names })), tableSettings }
  try {
    await ensureDevelopmentOrganization(stores.organizations)
    return { stores, close: emulator.stop }
  } catch (error) {
    await emulator.stop()
    throw error
  }
}

/** Without an endpoint in the environment, the AWS SDK resolves region, credentials and endpoint. */
async function openDeployed(stack: string): Promise<Opened> {
  const name = await findStackTable(stack)
  const tableSettings = await readTableSettings(name)
  const table = openTable({ ...tableSettings, [TABLE_NAME]: name })
  return { stores: { ...openStores(table), tableSettings }, close: async () => undefined }
}

/** Of a table without the tag, such as a restored one that is not complete: nothing is lost. */
const UNKNOWN_SETTINGS = { AUDIT_RETENTION_DAYS: String(AUDIT_DAYS.max), EVENT_BUS: 'on' }

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
function toUserError(error: unknown): unknown {
  const cause = error instanceof Unavailable ? error.cause : error
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

/** CloudFormation appends the logical ID and random characters. Does not match the tables of a stack `<stack>-x`. */
const GENERATED_SUFFIX = /^-[A-Za-z0-9]+-[A-Z0-9]+$/

/**
 * Finds the name of a deployed stack's table by its prefix, so that the operator needs no CloudFormation permissions.
 * A retained table survives its stack: if there are several tables, `stack` may be the name of a table.
 * @throws UserError that lists the tables found
 */
async function findStackTable(stack: string): Promise<string> {
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
