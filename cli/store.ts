import { agentStore } from '../lib/dynamodb/agent-store.ts'
import { cacheStore } from '../lib/dynamodb/cache-store.ts'
import { executionStore } from '../lib/dynamodb/execution-store.ts'
import { organizationStore } from '../lib/dynamodb/organization-store.ts'
import { stepStore } from '../lib/dynamodb/step-store.ts'
import { openTable, type Table } from '../lib/dynamodb/table.ts'
import { tokenStore } from '../lib/dynamodb/token-store.ts'
import { DYNAMODB_ENDPOINT, TABLE_NAME } from '../lib/environment.ts'
import { ensureDevelopmentOrganization } from '../local/development.ts'
import { LOCAL_TABLE, openStore } from '../local/open-store.ts'
import { UserError } from './errors.ts'
import { onInterrupt } from './interrupt.ts'
import type { SharedOptions } from './options.ts'
import { withProgress } from './output.ts'
import { stackTable } from './stack-table.ts'

export type Store = ReturnType<typeof storeOf>

type Opened = { table: Table; stop: () => Promise<void> }

/** Opens the table that the options name for as long as `work` takes; it is closed also on errors and on Ctrl-C. */
export async function withStore<T>({ stack }: SharedOptions, work: (store: Store) => Promise<T>): Promise<T> {
  const opening = stack ? openDeployed(stack) : openLocal()
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= opening.then(
      ({ stop }) => stop(),
      () => undefined,
    )
    return closing
  }
  const forget = onInterrupt(close)
  try {
    const { table } = await withProgress(
      stack ? `Connecting to ${stack}` : 'Opening the local store',
      opening,
    )
    return await work(storeOf(table))
  } catch (error) {
    throw stack ? ofAws(error) : error
  } finally {
    await close()
    forget()
  }
}

function storeOf(table: Table) {
  return {
    agents: agentStore(table),
    executions: executionStore(table),
    steps: stepStore(table),
    cache: cacheStore(table),
    organizations: organizationStore(table),
    tokens: tokenStore(table),
  }
}

async function openLocal(): Promise<Opened> {
  const store = await openStore('command').catch((error: unknown) => {
    throw new UserError(`The local store cannot be opened. ${reasonOf(error)}`)
  })
  const table = openTable({ [TABLE_NAME]: LOCAL_TABLE, [DYNAMODB_ENDPOINT]: store.endpoint })
  try {
    await ensureDevelopmentOrganization(organizationStore(table))
    return { table, stop: store.stop }
  } catch (error) {
    await store.stop()
    throw error
  }
}

async function openDeployed(stack: string): Promise<Opened> {
  const table = openTable({ [TABLE_NAME]: await stackTable(stack) })
  return { table, stop: async () => undefined }
}

/** AWS's own refusals, and what its SDK says about credentials and regions, are the user's to put right. */
function ofAws(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const isUnset = 'tryNextLink' in error || error.message.includes('Region is missing')
  if (isUnset) return new UserError(`AWS: ${error.message}. Set AWS_PROFILE, or AWS_REGION and credentials.`)
  return '$metadata' in error ? new UserError(`AWS: ${reasonOf(error)}`) : error
}

/** A refused connection has no message of its own, only a code. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { name, message, code } = error as NodeJS.ErrnoException
  if (message === '') return code ?? name
  return name === 'Error' ? message : `${name}: ${message}`
}
