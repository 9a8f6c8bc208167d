import { type Environment, LOOPBACK_ORGANIZATION, readSetting } from '../../environment.ts'
import { parseHosts } from '../../host-list.ts'
import { hostnameOf, isLoopback, type MayBePrivate } from './egress-policy.ts'

/**
 * What operators allow clients of an organization to reach through webhooks, and through tools that they publish over
 * HTTP: `WEBHOOK_HOSTS`; on one machine, also its loopback addresses for the organization of its development token.
 */
export function privateHosts(organizationId: string, environment: Environment = process.env): MayBePrivate {
  const allowed = parseHosts(readSetting('webhookHosts', environment) ?? '')
  const isLocal = environment[LOOPBACK_ORGANIZATION] === organizationId
  return (host) => (isLocal && isLoopback(hostnameOf(host))) || allowed.some((entry) => names(entry, host))
}

/**
 * What agents of the development organization may reach beside `allowedHosts`, on one machine: a loopback address of
 * it, over plain HTTP. @param organizationId absent where a document is checked for any organization
 */
export function loopbackHosts(
  url: string,
  organizationId?: string,
  environment: Environment = process.env,
): string[] {
  const local = environment[LOOPBACK_ORGANIZATION]
  if (!local || (organizationId ?? local) !== local || !URL.canParse(url)) return []
  const { host } = new URL(url)
  return isLoopback(hostnameOf(host)) ? [host] : []
}

const names = (entry: string, host: string): boolean =>
  hostnameOf(entry) === hostnameOf(host) && (!/:\d+$/.test(entry) || portOf(entry) === portOf(host))

const portOf = (host: string): string => /:(\d+)$/.exec(host)?.[1] ?? ''
