import { join } from 'node:path'
import { AgentError, Client, type ClientOptions } from '../clients/typescript/src/index.ts'
import { parseStoredJson } from '../lib/core/json/parse-json.ts'
import { DEV_TOKEN_FILE, dataFolder } from '../local/data-folder.ts'
import { readServiceUrl, readText } from '../local/running-services.ts'
import { UserError } from './errors.ts'
import { describeTarget } from './format.ts'
import { type SharedOptions, TOKEN_VARIABLE } from './options.ts'
import { describeServices } from './table/confirm-data-folder.ts'
import { announce } from './terminal.ts'

/** A service. `url`: its base address, with or without `/v1`. */
export type Remote = { url: string; token: string }

/** The service of `--url` and its token; null without it. @throws UserError */
export function getRemote(options: SharedOptions): Remote | null {
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

/** The service of `--url`, otherwise the one that runs on the data folder. @throws UserError */
export async function findService(options: SharedOptions): Promise<Remote> {
  if (options.stack !== undefined)
    throw new UserError('This goes through the service: use --url <base> and --token instead of --stack.')
  const remote = getRemote(options)
  if (remote) return remote
  const folder = dataFolder()
  const url = await readServiceUrl(folder)
  const token = process.env.DEV_TOKEN || (await readText(join(folder, DEV_TOKEN_FILE)))
  announce(`${describeTarget(options)}${url && ` (${url})`}`, options)
  if (url && token) return { url, token }
  if (url)
    throw new UserError(
      `The service at ${url} was started with a development token of its own. Set DEV_TOKEN to it, or use --url ${url} and --token.`,
    )
  const message = `No service runs on ${folder}. Start it with npm start, or use that of --url <base> and --token.`
  throw new UserError([...(await describeServices(folder)), message].join('\n'))
}

/** Whether it is the service that runs on the data folder. */
export async function isLocalService(url: string): Promise<boolean> {
  const local = await readServiceUrl(dataFolder())
  return new URL(url).origin.replace('//localhost', '//127.0.0.1') === local
}

/** `status`: of the last response. */
export type Called = { client: Client; status: () => number }

/** A client, which keeps all digits. */
export function openClient({ url: baseUrl, token }: Remote, options: Partial<ClientOptions>): Called {
  const { fetch = globalThis.fetch } = options
  let status = 0
  const tracked = async (...args: Parameters<typeof fetch>) => {
    const response = await fetch(...args)
    status = response.status
    return response
  }
  const client = new Client({ ...options, baseUrl, token, fetch: tracked, parse: parseStoredJson })
  return { client, status: () => status }
}

/** Few: the address of a service that cannot be reached may be mistyped. */
const MAX_RETRIES = 2

/**
 * Calls a service.
 * @param action what it is for: `list approvals`
 * @throws UserError that says why it failed
 */
export async function callService<T>(
  remote: Remote,
  action: string,
  call: (called: Called) => Promise<T>,
): Promise<T> {
  return call(openClient(remote, { maxRetries: MAX_RETRIES })).catch((error: unknown) => {
    throw explainCall(error, remote.url, action)
  })
}

/** Does the work with the service of `--url`, or the local one. @throws UserError */
export const withService = async <T>(
  options: SharedOptions,
  action: string,
  work: (client: Client) => Promise<T>,
): Promise<T> => callService(await findService(options), action, ({ client }) => work(client))

/** A client for calls of hours. It retries for about a minute. */
export const patientClient = (remote: Remote): Client => openClient(remote, {}).client

/** @throws what is not an error of the client */
export function explainCall(error: unknown, url: string, action: string): UserError {
  if (!(error instanceof AgentError)) throw error
  const { code, detail } = error
  return new UserError(`Cannot ${action}: ${detail}${reasonOf(error, url)}`, { details: { code } })
}

/** Why a service was not reached, in parentheses; empty if it was. */
function reasonOf({ status, cause }: AgentError, url: string): string {
  return cause instanceof Error && status === 0 ? ` (${explainFailure(url, cause)})` : ''
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

/** The slugs of these agents, without those that the token may not read. */
export async function findSlugs(client: Client, ids: Set<string>): Promise<Map<string, string>> {
  const found = [...ids].map(async (id): Promise<[string, string][]> => {
    const agent = await client.agent(id).catch(() => null)
    return agent ? [[id, agent.slug]] : []
  })
  return new Map((await Promise.all(found)).flat())
}
