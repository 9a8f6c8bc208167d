import { lookup as dnsLookup } from 'node:dns'
import { BlockList, isIP, isIPv4, isIPv6, type LookupFunction } from 'node:net'
import { ToolError } from '../tool.ts'

/** Blocks that are not globally reachable (IANA special-purpose address registry), and multicast. */
const NON_PUBLIC_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10', // carrier-grade NAT
  '127.0.0.0/8',
  '169.254.0.0/16', // link-local, including the metadata services
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4', // multicast
  '240.0.0.0/4',
]

/** The global unicast block. IPv4-mapped, NAT64, unique-local and link-local addresses are outside of it. */
const GLOBAL_V6 = ['2000::/3']

/** Exceptions in that block. Teredo and 6to4 embed an IPv4 address that the sender chooses. */
const NON_PUBLIC_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

const nonPublicV4 = toBlockList(NON_PUBLIC_V4, 'ipv4')
const globalV6 = toBlockList(GLOBAL_V6, 'ipv6')
const nonPublicV6 = toBlockList(NON_PUBLIC_V6, 'ipv6')

/** Whether a host, with its port unless it is the default, may have an address that is not public. */
export type MayBePrivate = (host: string) => boolean

/** Where a tool may connect to. By default only to public addresses over HTTPS. */
export type EgressPolicy = {
  /** Hosts that may also have other addresses and use plain HTTP. */
  allowedHosts: string[]
  /** Which of them may have other addresses. Default: all of them. */
  mayBePrivate?: MayBePrivate | undefined
  /** Resolves host names. Default: `dns.lookup`. */
  lookup?: LookupFunction | undefined
}

/** Finds out why a URL is denied, as far as possible without resolving its host; null if it is not. */
export function findUrlProblem(
  url: URL,
  { allowedHosts, mayBePrivate }: Pick<EgressPolicy, 'allowedHosts' | 'mayBePrivate'>,
): string | null {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must start with https://'
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password'
  if (isAllowedHost(url, allowedHosts))
    return mayBePrivate && isPrivateHost(url.host) && !mayBePrivate(url.host)
      ? `must not use a non-public address unless operators name "${url.host}" in the setting webhookHosts (for npm start, WEBHOOK_HOSTS)`
      : null
  if (url.protocol === 'http:') return `must start with https:// unless allowedHosts contains "${url.host}"`
  const address = hostnameOf(url.host)
  const isDenied = isIP(address) !== 0 && !isPublicAddress(address)
  return isDenied ? `must not use a non-public address unless allowedHosts contains "${url.host}"` : null
}

/** The same for the text of a URL, which must also be valid and without a fragment. */
export function findEndpointProblem(
  text: string,
  allowedHosts: string[],
  mayBePrivate?: MayBePrivate,
): string | null {
  if (!URL.canParse(text)) return 'must be a URL such as https://shop.example/orders'
  const url = new URL(text)
  const isHost = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)$/.test(url.hostname)
  if (!isHost) return `contains the invalid host "${url.hostname}"`
  return url.hash === '' ? findUrlProblem(url, { allowedHosts, mayBePrivate }) : 'must not contain a fragment'
}

/** The lookup function for a request to a URL; undefined for the default. */
export function lookupFor(
  url: URL,
  { allowedHosts, mayBePrivate, lookup }: EgressPolicy,
): LookupFunction | undefined {
  const isPrivate = isAllowedHost(url, allowedHosts) && (mayBePrivate?.(url.host) ?? true)
  return isPrivate ? lookup : publicLookup(lookup)
}

function isAllowedHost(url: URL, allowedHosts: string[]): boolean {
  return allowedHosts.some((entry) => {
    const allowed = `${url.protocol}//${entry}`
    return URL.canParse(allowed) && new URL(allowed).host === url.host
  })
}

/**
 * A lookup that fails if any of the addresses is not public. The socket connects to an address that this lookup
 * returned, so a second DNS response cannot replace it (DNS rebinding).
 */
export function publicLookup(lookup: LookupFunction = dnsLookup as LookupFunction): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, '')
      const addresses = Array.isArray(found) ? found : []
      const [first] = addresses
      if (!first || !addresses.every(({ address }) => isPublicAddress(address))) {
        return callback(new ToolError(`the host ${hostname} resolves to a non-public address`), '')
      }
      return options.all ? callback(null, addresses) : callback(null, first.address, first.family)
    })
  }
}

/** Whether an IP address (IPv6 without brackets) belongs to the public internet. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !nonPublicV4.check(address, 'ipv4')
  if (isIPv6(address)) return globalV6.check(address, 'ipv6') && !nonPublicV6.check(address, 'ipv6')
  return false
}

/** Whether the text of a host is an address that is not public. What names resolve to is known at each request. */
export function isPrivateHost(host: string): boolean {
  const hostname = hostnameOf(host)
  return isLoopback(hostname) || (isIP(hostname) !== 0 && !isPublicAddress(hostname))
}

/** Whether it is the text of a public address. */
export function isPublicHost(host: string): boolean {
  const hostname = hostnameOf(host)
  return isIP(hostname) !== 0 && isPublicAddress(hostname)
}

export const isLoopback = (hostname: string): boolean =>
  /^(.+\.)?localhost\.?$/.test(hostname) || /^127\.[\d.]+$/.test(hostname) || hostname === '::1'

/** As the URL parser writes it: `0x7f.1` is 127.0.0.1. Without the brackets of IPv6. */
export const hostnameOf = (host: string): string =>
  URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname.replace(/^\[(.*)\]$/, '$1') : host

function toBlockList(blocks: string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList()
  for (const block of blocks) {
    const [network = '', prefix] = block.split('/')
    list.addSubnet(network, Number(prefix), family)
  }
  return list
}
