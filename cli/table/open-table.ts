import { audited, type Described, type Note } from '../../lib/access/audit-log.ts'
import { openStores, type Stores } from '../../lib/dynamodb/open-stores.ts'
import { pickTableSettings } from '../../lib/dynamodb/table/settings-tag.ts'
import { openTable } from '../../lib/dynamodb/table/table.ts'
import { DYNAMODB_ENDPOINT, type Environment, readSetting, TABLE_NAME } from '../../lib/environment.ts'
import type { ServiceEvent } from '../../lib/http/event.ts'
import { system } from '../../lib/system.ts'
import { ensureDevelopmentOrganization, localUser } from '../../local/development.ts'
import { openDatabase } from '../../local/emulators/open-database.ts'
import { LOCAL_TABLE } from '../../local/emulators/provision.ts'
import { UserError } from '../errors.ts'
import { describeTarget } from '../format.ts'
import type { SharedOptions } from '../options.ts'
import { announce, useAndClose } from '../terminal.ts'
import { confirmDataFolder } from './confirm-data-folder.ts'
import { describeError, explainAwsError, findAwsCaller, findStackTable, readTableSettings } from './stack.ts'

/** Who makes changes, and from where, for the audit log. */
type Caller = NonNullable<ServiceEvent['operator']>

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
      const isMarked = Boolean(readSetting('eventBus', environment))
      return audited({ audit: stores.audit, system, isMarked }, described, work)
    },
  }
}

/**
 * The AWS caller, or the user of this machine on a local table.
 * @throws UserError if AWS does not say who the caller is
 */
async function identifyCaller(stack: string | undefined): Promise<Caller> {
  const user = localUser()
  return stack ? { ...user, actor: await findAwsCaller() } : user
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
