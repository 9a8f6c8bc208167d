import { AgentError } from '../clients/typescript/src/index.ts'
import type { Organization } from '../lib/core/agent.ts'
import { ServiceError } from '../lib/core/errors.ts'
import { readPages } from '../lib/core/read-pages.ts'
import type { Stores } from '../lib/dynamodb/open-stores.ts'
import { pickTableSettings } from '../lib/dynamodb/table/settings-tag.ts'
import { DYNAMODB_ENDPOINT, type Environment, METRICS_NAMESPACE, variableOf } from '../lib/environment.ts'
import { DEVELOPMENT_ORGANIZATION, operatorId } from '../local/development.ts'
import { UserError } from './errors.ts'
import { formatCommand } from './format.ts'
import type { SharedOptions } from './options.ts'
import { type Called, callService, getRemote, openClient } from './service.ts'
import type { OpenTable } from './table/open-table.ts'
import { readAll } from './take.ts'

/** What a command works with. `organization`: null over HTTP, where the token determines it. */
export type Connection = Called & { organization: Organization | null; options: SharedOptions }

export type TableConnection = Connection & OpenTable & { organization: Organization }

/** The ID of the organization, if `--org` does not say it. */
type FindOwner = (stores: Stores) => Promise<string>

/**
 * Connects to the service of `--url`, or to a table, where the client calls the functions in this process.
 * @param action what it is for: `list agents`
 * @throws UserError that says why it failed
 */
export async function withConnection<T>(
  options: SharedOptions,
  action: string,
  work: (connection: Connection) => Promise<T>,
  findOwner?: FindOwner,
): Promise<T> {
  const remote = getRemote(options)
  if (!remote) return withOrganization(options, work, findOwner)
  return callService(remote, action, (called) => work({ ...called, options, organization: null }))
}

/** Opens a table and finds the organization that a command works on. */
export async function withOrganization<T>(
  options: SharedOptions,
  work: (connection: TableConnection) => Promise<T>,
  findOwner?: FindOwner,
): Promise<T> {
  // On demand: it loads the AWS SDK.
  const { withTable } = await import('./table/open-table.ts')
  return withTable(options, async (table) => {
    const org = options.org ?? (await findOwner?.(table.stores))
    const organization = await findOrganization(table, { ...options, org })
    return work({ ...table, ...openTableClient(table, organization.id), organization, options })
  })
}

/** Settings of a service that do not limit an operator, or of another service. */
const UNSET = (['httpPublishing', 'oidcIssuer', 'paused', 'responseStreaming'] as const).map(variableOf)
const OTHER_SETTINGS = {
  ...Object.fromEntries([DYNAMODB_ENDPOINT, METRICS_NAMESPACE, ...UNSET].map((name) => [name, undefined])),
  [variableOf('largeBodyMbPerMinute')]: '9999999',
}

/**
 * A client that calls the functions in this process, as an administrator of an organization. They read their settings
 * from the environment of the process, which is that of the table while calls are in progress.
 */
function openTableClient({ environment, identify }: OpenTable, organizationId: string): Called {
  const unset = Object.keys(pickTableSettings(process.env)).map((name) => [name, undefined])
  const variables = { ...Object.fromEntries(unset), ...OTHER_SETTINGS, ...environment }
  const open = async () => {
    // On demand: many commands do without.
    const [{ inProcessFetch }, { localFunctions }] = await Promise.all([
      import('../local/gateway/in-process-fetch.ts'),
      import('../local/gateway/functions.ts'),
    ])
    const { handlers } = localFunctions(JSON.stringify(environment))
    return inProcessFetch(handlers, { organizationId, tokenId: operatorId(), identify })
  }
  let opened: ReturnType<typeof open> | undefined
  let pending = 0
  let restore = () => {}
  const fetch = async (url: string, init: RequestInit) => {
    if (pending++ === 0) restore = setVariables(variables)
    try {
      opened ??= open()
      const call = await opened
      return await call(url, init).catch(rejectAsClient)
    } finally {
      if (--pending === 0) restore()
    }
  }
  return openClient({ url: 'http://localhost', token: 'operator' }, { fetch, maxRetries: 0 })
}

/** As an error that the client does not take for a broken connection. */
function rejectAsClient(error: Error): never {
  const code = error instanceof ServiceError ? error.code : 'InternalError'
  throw new AgentError({ code, detail: error.message }, error)
}

/** @returns what sets the earlier values again */
function setVariables(variables: Environment): () => void {
  const { env } = process
  const apply = (values: Environment) => {
    for (const [name, value] of Object.entries(values))
      if (value === undefined) delete env[name]
      else env[name] = value
  }
  const before = Object.fromEntries(Object.keys(variables).map((name) => [name, env[name]]))
  apply(variables)
  return () => apply(before)
}

/**
 * The organization given with `--org`, by default the development organization, or the only one of a stack.
 * @throws UserError that lists the organizations or tells how to create one
 */
async function findOrganization(
  { stores: { organizations } }: OpenTable,
  { org, stack }: SharedOptions,
): Promise<Organization> {
  const id = org ?? (stack ? undefined : DEVELOPMENT_ORGANIZATION.id)
  const create = `Create one: ${formatCommand({ stack }, 'orgs create --name <text>')}`
  if (id) {
    const organization = await organizations.get({ id })
    if (organization) return organization
    const list = `List organizations: ${formatCommand({ stack }, 'orgs list')}`
    throw new UserError(`Organization ${id} not found. ${list}. ${create}`, {
      details: { code: 'OrganizationNotFound' },
    })
  }
  const all = await readAll(readPages((page) => organizations.list(page)))
  const [only] = all
  if (!only) throw new UserError(`The stack has no organizations. ${create}`)
  if (all.length === 1) return only
  throw new UserError('The stack has several organizations. Select one with --org.', {
    details: { organizations: all.map(({ id, name }) => ({ id, name })) },
    lines: all.map(({ id, name }) => `${id}  ${name}`),
  })
}
