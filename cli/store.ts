import { Unavailable } from '../lib/core/errors.ts'
import { openStores, type Stores } from '../lib/dynamodb/open-stores.ts'
import { openTable } from '../lib/dynamodb/table.ts'
import { DYNAMODB_ENDPOINT, TABLE_NAME } from '../lib/environment.ts'
import { ensureDevelopmentOrganization } from '../local/development.ts'
import { LOCAL_TABLE, openStore } from '../local/open-store.ts'
import { UserError } from './errors.ts'
import { onInterrupt } from './interrupt.ts'
import type { SharedOptions } from './options.ts'
import { withProgress } from './output.ts'
import { stackTable } from './stack-table.ts'

export type Store = Stores

type Opened = { store: Store; close: () => Promise<void> }

/** Opens the table that the options name, and closes it after `work`, on errors and on Ctrl-C too. */
export async function withStore<T>({ stack }: SharedOptions, work: (store: Store) => Promise<T>): Promise<T> {
  const opening = stack ? openDeployed(stack) : openLocal()
  let closing: Promise<void> | undefined
  const closeOnce = () => {
    closing ??= opening.then(
      ({ close }) => close(),
      () => undefined,
    )
    return closing
  }
  const forget = onInterrupt(closeOnce)
  try {
    const { store } = await withProgress(
      stack ? `Connecting to ${stack}` : 'Opening the local store',
      opening,
    )
    return await work(store)
  } catch (error) {
    throw stack ? toUserError(error) : error
  } finally {
    await closeOnce()
    forget()
  }
}

async function openLocal(): Promise<Opened> {
  const emulator = await openStore('command').catch((error: unknown) => {
    throw new UserError(`The local store cannot be opened. ${reasonOf(error)}`)
  })
  const store = openStores(openTable({ [TABLE_NAME]: LOCAL_TABLE, [DYNAMODB_ENDPOINT]: emulator.endpoint }))
  try {
    await ensureDevelopmentOrganization(store.organizations)
    return { store, close: emulator.stop }
  } catch (error) {
    await emulator.stop()
    throw error
  }
}

/** The environment names no emulator: region, credentials and endpoint come from the AWS SDK. */
async function openDeployed(stack: string): Promise<Opened> {
  const table = openTable({ [TABLE_NAME]: await stackTable(stack) })
  return { store: openStores(table), close: async () => undefined }
}

/** Errors of AWS, and of its SDK about credentials and region, are for the user to correct. */
function toUserError(error: unknown): unknown {
  const cause = error instanceof Unavailable ? error.cause : error
  if (!(cause instanceof Error)) return error
  const isUnset = 'tryNextLink' in cause || cause.message.includes('Region is missing')
  if (isUnset) return new UserError(`AWS: ${cause.message}. Set AWS_PROFILE, or AWS_REGION and credentials.`)
  return '$metadata' in cause ? new UserError(`AWS: ${reasonOf(cause)}`) : error
}

/** An error of several connection attempts (AggregateError) has a code but no message. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { name, message, code } = error as NodeJS.ErrnoException
  if (message === '') return code ?? name
  return name === 'Error' ? message : `${name}: ${message}`
}
