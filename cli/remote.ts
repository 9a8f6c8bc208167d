import { join } from 'node:path'
import { Option } from 'commander'
import { AgentError, Client } from '../clients/typescript/src/index.ts'
import type { LoadedAgent } from '../lib/agents/load-folder.ts'
import type { VersionRecord } from '../lib/contract/records/agent.ts'
import type { ProblemRecord } from '../lib/contract/records/records.ts'
import type { Scope } from '../lib/core/access.ts'
import { tryParseJson } from '../lib/core/json/json.ts'
import { parseStoredJson } from '../lib/core/json/parse-json.ts'
import { DEV_TOKEN_FILE, dataFolder } from '../local/data-folder.ts'
import { readServiceUrl, readText } from '../local/running-services.ts'
import type { CliCommand, Result } from './command.ts'
import { UserError } from './errors.ts'
import { explainTrial } from './find.ts'
import { describeTarget } from './format.ts'
import { parseUrl, type SharedOptions } from './options.ts'
import { describeServices } from './stores.ts'
import { announce } from './terminal.ts'

/** Options of commands that can work over HTTP instead of on a table. */
export type RemoteOptions = SharedOptions & { url?: string; token?: string }

/** A token in the environment does not show up in lists of processes. */
const TOKEN_VARIABLE = 'AGENTS_TOKEN'

/** @param use what the command does with the service: `read over HTTP from` */
export const urlOption = (use: string): Option =>
  new Option('--url <base>', `${use} the service with this address, without AWS credentials`).argParser(
    parseUrl,
  )

export const tokenOption = (scope: string): Option =>
  new Option(
    '--token <token>',
    `API token for --url, with the scope ${scope}; default: the variable ${TOKEN_VARIABLE}`,
  )

/** Few: the address of a service that cannot be reached may be mistyped. */
const MAX_RETRIES = 2

/**
 * Calls a service.
 * @param action what it is for: `list approvals`
 * @throws UserError that says why it failed
 */
export async function callService<T>(
  { url, token }: Remote,
  action: string,
  call: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client({ baseUrl: url, token, maxRetries: MAX_RETRIES, parse: parseStoredJson })
  return call(client).catch((error: unknown) => {
    throw explainError(error, url, action)
  })
}

/** A client for calls of hours, which keeps all digits. It retries for about a minute. */
export const patientClient = ({ url, token }: Remote): Client =>
  new Client({ baseUrl: url, token, parse: parseStoredJson })

/** @throws what is not an error of the client */
export function explainError(error: unknown, url: string, action: string): UserError {
  if (!(error instanceof AgentError)) throw error
  const { code, status, detail, cause } = error
  const reason = cause instanceof Error && status === 0 ? ` (${explainFailure(url, cause)})` : ''
  return new UserError(`Cannot ${action}: ${detail}${reason}`, { details: { code } })
}

/** Codes of OpenSSL and Node for a server that does not speak TLS. */
const NO_TLS = /wrong version number|packet length too long|WRONG_VERSION_NUMBER|ERR_SSL_|EPROTO/

/** Why `fetch` failed, which its cause says. The texts of OpenSSL are not for people. */
export function explainFailure(url: string, error: Error): string {
  const { cause } = error
  const reason = cause instanceof Error ? cause : error
  const { code = '', message } = reason as NodeJS.ErrnoException
  const { protocol, host } = new URL(url)
  if (protocol === 'https:' && NO_TLS.test(`${code} ${message}`))
    return `${host} does not speak TLS. If it is a service without it, use http://${host}`
  if (code === 'ECONNREFUSED') return `nothing listens on ${host}. Is the service running?`
  if (code === 'ENOTFOUND') return `the host ${host} does not exist`
  if (protocol === 'http:' && (code === 'ECONNRESET' || /other side closed|socket hang up/.test(message)))
    return `${host} closed the connection. If it speaks TLS, use https://${host}`
  if (reason.name === 'TimeoutError') return `${host} did not respond in time`
  return message || code || reason.name
}

/** A service. `url`: its base address, with or without `/v1`. */
export type Remote = { url: string; token: string }

/** The service of `--url` and its token; null without it. @throws UserError */
export function getRemote(options: RemoteOptions): Remote | null {
  const { url, token, stack, org } = options
  if (url === undefined) {
    if (token === undefined) return null
    throw new UserError('--token needs --url.')
  }
  if (stack !== undefined || org !== undefined)
    throw new UserError(
      '--url cannot be combined with --stack or --org: the token determines the organization.',
    )
  // Before anything prints the address: it may contain a password.
  const { username, password } = new URL(url)
  if (username || password || /[?#]/.test(url))
    throw new UserError('The address of --url must have no user name, password, query or fragment.')
  const found = (token ?? process.env[TOKEN_VARIABLE] ?? '').trim()
  if (found === '')
    throw new UserError(`--url needs an API token: specify --token, or set ${TOKEN_VARIABLE}.`)
  // Not for `fetch` to find out: its message contains the token.
  if (/[^!-~]/.test(found)) throw new UserError('The API token contains characters that no token has.')
  announce(url, options)
  return { url, token: found }
}

/** All items of a list of the client. */
export async function readAll<T>(list: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of list) items.push(item)
  return items
}

/** The service of `--url`, otherwise the one that runs on the data folder. @throws UserError */
export async function findService(options: RemoteOptions): Promise<Remote> {
  if (options.stack !== undefined)
    throw new UserError('This goes through the service: use --url <base> and --token instead of --stack.')
  const remote = getRemote(options)
  if (remote) return remote
  const folder = dataFolder()
  const url = await readServiceUrl(folder)
  const token = process.env.DEV_TOKEN || (await readText(join(folder, DEV_TOKEN_FILE)))
  announce(`${describeTarget(options)}${url && ` (${url})`}`, options)
  if (url && token) return { url, token }
  const message = `No service runs on ${folder}. Start it with npm start, or use that of --url <base> and --token.`
  throw new UserError([...(await describeServices(folder)), message].join('\n'))
}

/** Whether it is the service that runs on the data folder. */
export async function isLocalService(url: string): Promise<boolean> {
  const local = await readServiceUrl(dataFolder())
  return new URL(url).origin.replace('//localhost', '//127.0.0.1') === local
}

/** The slugs of these agents, without those that the token may not read. */
export async function findSlugs(client: Client, ids: Set<string>): Promise<Map<string, string>> {
  const found = [...ids].map(async (id): Promise<[string, string][]> => {
    const agent = await client.agent(id).catch(() => null)
    return agent ? [[id, agent.slug]] : []
  })
  return new Map((await Promise.all(found)).flat())
}

/** Adds the options of a command that works with a service. */
export const overHttp = (command: CliCommand, scope: string): CliCommand =>
  command.addOption(urlOption('use')).addOption(tokenOption(scope))

/** Does the work with the service of `--url`, or the local one. @throws UserError */
export const withService = async <T>(
  options: RemoteOptions,
  action: string,
  work: (client: Client) => Promise<T>,
): Promise<T> => callService(await findService(options), action, work)

/** Adds the work of a command that does nothing but that. */
export function runOverHttp<Options = object>(
  command: CliCommand,
  { scope, action }: { scope: Scope; action: string },
  work: (client: Client, options: Options & RemoteOptions, args: string[]) => Promise<Result>,
): void {
  overHttp(command, scope).run<Options & RemoteOptions>((options, args) =>
    withService(options, action, (client) => work(client, options, args)),
  )
}

/** Longer than the service may take to check and store the largest agent. */
const PUBLISH_TIMEOUT_MS = 60_000

/**
 * Publishes an agent with `POST /v1/agents`.
 * @throws UserError with the problems that the service found, or if it cannot be reached
 */
export async function publishOverHttp(
  { url, token }: Remote,
  { text: document, document: { slug }, code }: LoadedAgent,
  options: { draft: boolean; message: string | undefined },
): Promise<{ version: VersionRecord; isNew: boolean }> {
  const endpoint = `${url.replace(/\/+$/, '').replace(/\/v1$/, '')}/v1/agents`
  const response = await send(endpoint, token, { document, slug, code, ...options })
  const body = tryParseJson(await response.text())
  if (response.ok) return { version: body as VersionRecord, isNew: response.status === 201 }
  const { detail, code: errorCode, errors = [] } = (body ?? {}) as Partial<ProblemRecord>
  const refused = explainTrial({ code: errorCode, detail: detail ?? '' }, { slug, options: { url } })
  if (refused) throw refused
  throw new UserError(
    `Publish failed: ${response.status} ${errorCode ?? ''} ${detail ?? response.statusText}`.trim(),
    {
      details: { code: errorCode, status: response.status, ...(errors.length > 0 && { problems: errors }) },
      lines: errors.map((problem) => problem.message),
    },
  )
}

async function send(endpoint: string, token: string, body: object): Promise<Response> {
  try {
    return await fetch(endpoint, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(PUBLISH_TIMEOUT_MS),
    })
  } catch (error) {
    throw new UserError(`Cannot reach ${endpoint}: ${explainFailure(endpoint, error as Error)}`)
  }
}
