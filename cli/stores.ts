import { Unavailable } from '../lib/core/errors.ts'
import { openStores, type Stores } from '../lib/dynamodb/open-stores.ts'
import { openTable } from '../lib/dynamodb/table/table.ts'
import { DYNAMODB_ENDPOINT, TABLE_NAME } from '../lib/environment.ts'
import { ensureDevelopmentOrganization } from '../local/development.ts'
import { openDatabase } from '../local/emulators/open-database.ts'
import { LOCAL_TABLE } from '../local/emulators/provision.ts'
import { UserError } from './errors.ts'
import { onInterrupt } from './interrupt.ts'
import type { SharedOptions } from './options.ts'
import { withProgress } from './output.ts'
import { findStackTable } from './stack-table.ts'

type Opened = { stores: Stores; close: () => Promise<void> }

/** Opens the stack's table or the local one, and closes it after `work`, also on errors and on Ctrl-C. */
export async function withStores<T>(
  { stack }: SharedOptions,
  work: (stores: Stores) => Promise<T>,
): Promise<T> {
  const opening = stack ? openDeployed(stack) : openLocal()
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
    const { stores } = await withProgress(
      stack ? `Connecting to ${stack}` : 'Opening the local table',
      opening,
    )
    return await work(stores)
  } catch (error) {
    throw stack ? toUserError(error) : error
  } finally {
    await closeOnce()
    removeCleanup()
  }
}

async function openLocal(): Promise<Opened> {
  const emulator = await openDatabase('command').catch((error: unknown) => {
    throw new UserError(`Cannot open the local table. ${describeError(error)}`)
  })
  const stores = openStores(openTable({ [TABLE_NAME]: LOCAL_TABLE, [DYNAMODB_ENDPOINT]: emulator.endpoint }))
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
  const table = openTable({ [TABLE_NAME]: await findStackTable(stack) })
  return { stores: openStores(table), close: async () => undefined }
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
